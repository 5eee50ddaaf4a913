/** A link, shown once, to send to its recipient. */
import { Button, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Copy } from "../../ui/copy.tsx";

interface OnceLinkProps {
  readonly url: string;
  readonly close: () => void;
  /** The recipient's rights with the link, and its expiry. */
  readonly children: ReactNode;
}

export function OnceLink({ url, close, children }: OnceLinkProps) {
  return (
    <Stack gap="md">
      <Text>{children}</Text>
      <code className="mono">{url}</code>
      <Group gap="sm">
        <Copy text={() => url} label="the link" />
        <Button size="xs" variant="default" onClick={close}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
