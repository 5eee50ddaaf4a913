/** How to make a first call. */
import { Code, Text } from "@mantine/core";
import { api } from "../../api/client.ts";
import { Page } from "../../ui/page.tsx";

export function StartPage() {
  const { data: info } = api.useQuery("get", "/admin/v1/info");
  return (
    <Page title="Make your first call">
      <Text>
        The base URL is <Code>{info?.public_url}/v1</Code>.
      </Text>
    </Page>
  );
}
