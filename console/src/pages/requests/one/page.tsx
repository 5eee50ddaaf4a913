/** `/requests/:id`: the page of one call. */
import { Group, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Copy } from "../../../ui/copy.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { Page } from "../../../ui/page.tsx";
import { usePageKeys } from "../../../ui/shortcuts.ts";
import { listOf } from "../filters.ts";
import { NeighbourLinks } from "./neighbour-links.tsx";
import { CallRead, SendAgain, useCall } from "./call.tsx";

const route = getRouteApi("/shell/requests/$id");

export function RequestPage() {
  const { id } = route.useParams();
  const { ws, ...search } = route.useSearch();
  const list = { ...listOf(search), ...(ws !== undefined && { ws }) };
  const read = useCall(id);
  usePageKeys([{ key: "c", what: "Copy the id", act: () => copyText(id) }]);
  return (
    <Page
      title="Request"
      aside={
        <Group gap="sm">
          <NeighbourLinks id={id} list={list} isKnown={read.data !== undefined} />
          {read.data?.model != null && <SendAgain id={id} />}
          <Copy isNamed label="the id" text={() => id} />
        </Group>
      }
    >
      <Text className="mono" mb="md">
        {id}
      </Text>
      <CallRead read={read} />
    </Page>
  );
}
