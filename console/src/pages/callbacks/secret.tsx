/** The signing secret: reveal it, replace it, and switch callbacks on or off. */
import { Button, Group, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { useCallback, useState } from "react";
import { client } from "../../api/client.ts";
import { ifMatch } from "../../api/etag.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Secret } from "../../ui/secret.tsx";
import { enable, type Signing, type Workspace } from "./queries.ts";

/** The height of a switch, in pixels. */
const switchPx = 20;

interface ToggleProps {
  readonly workspace: Workspace;
  readonly signing: Signing;
}

function Toggle({ workspace: { id }, signing }: ToggleProps) {
  const { enabled } = signing;
  const change = useChange({
    base: signing,
    send: (to: boolean, headers) => enable(id, to, headers.ifMatch),
    invalidates: invalidatedPaths.workspace,
    success: enabled ? "Callbacks are switched off." : "Callbacks are switched on.",
    failure: enabled ? "Callbacks are not switched off." : "Callbacks are not switched on.",
    undo: (after, to) => enable(id, !to, ifMatch(after)),
  });
  return (
    <Switch
      label="Callbacks are sent"
      checked={enabled}
      disabled={change.isPending}
      onChange={({ currentTarget: { checked } }) => change.run(checked)}
    />
  );
}

interface RotateProps {
  readonly workspace: Workspace;
  readonly disabled: boolean;
}

function Rotate({ workspace: { id, name }, disabled }: RotateProps) {
  const change = useChange({
    send: async () => {
      const params = { path: { id } };
      return (
        await client.POST("/admin/v1/workspaces/{id}/signing_secret/rotate", { params, body: {} })
      ).data!;
    },
    invalidates: invalidatedPaths.workspace,
    success: "The secret is replaced. For a day callbacks are signed with both.",
  });
  const ask = () =>
    confirm({
      title: "Replace the signing secret",
      text: "For a day callbacks are signed with both secrets. After that, receivers that only have the old one refuse them.",
      action: "Replace secret",
      typed: name,
      run: () => change.runNow({}),
    });
  return (
    <Button variant="outline" color="var(--bad)" disabled={disabled} onClick={ask}>
      Replace
    </Button>
  );
}

interface SecretProps {
  readonly workspace: Workspace;
  /** Undefined until it is read; a placeholder keeps the layout. */
  readonly signing: Signing | undefined;
}

export function SigningSecret({ workspace, signing }: SecretProps) {
  const [isShown, setShown] = useState(false);
  const hide = useCallback(() => setShown(false), []);
  return (
    <Stack gap="md">
      {signing === undefined ? (
        <Skeleton h={switchPx} />
      ) : (
        <Toggle workspace={workspace} signing={signing} />
      )}
      <section aria-label="Signing secret">
        <Title order={2} size="h4" mb="sm">
          Signing secret
        </Title>
        <Text mb="sm">The gateway signs callbacks with it. Anyone who has it can forge them.</Text>
        <Group gap="sm">
          <Button variant="default" disabled={signing === undefined} onClick={() => setShown(true)}>
            Reveal
          </Button>
          <Rotate workspace={workspace} disabled={signing === undefined} />
        </Group>
      </section>
      {isShown && signing !== undefined && (
        <Secret value={signing.secret} label="the signing secret" hide={hide} isAudited={false} />
      )}
      {signing !== undefined && signing.previous !== null && (
        <Text>
          The secret before signs too, until{" "}
          {readTime(new Date(signing.previous.expires_at)).slice(0, -7)}.
        </Text>
      )}
    </Stack>
  );
}
