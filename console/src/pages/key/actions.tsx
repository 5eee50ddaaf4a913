/** Actions on a whole key: disable and enable, with Undo; revoke, after typing its name. */
import { Button, Group } from "@mantine/core";
import { client } from "../../api/client.ts";
import { ifMatch } from "../../api/etag.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { isolated } from "../../base/isolated.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import type { Key } from "./queries.ts";
import { useMay } from "./rights.ts";

const post = {
  disable: "/admin/v1/keys/{id}/disable",
  enable: "/admin/v1/keys/{id}/enable",
  revoke: "/admin/v1/keys/{id}/revoke",
} as const;
type KeyAction = keyof typeof post;

/** Sends an action. With `after`, only if the key is still as in that response. */
const sendAction = async (action: KeyAction, { id }: Key, after?: object) =>
  (
    await client.POST(post[action], {
      params: { path: { id }, header: ifMatch(after) },
      body: {},
    })
  ).data!;

function Switch({ apiKey }: { apiKey: Key }) {
  const name = isolated(apiKey.name);
  const isActive = apiKey.status === "active";
  const [action, back] = isActive
    ? (["disable", "enable"] as const)
    : (["enable", "disable"] as const);
  const change = useChange({
    // No `If-Match`: a leaked key must stop, whatever else changed.
    send: () => sendAction(action, apiKey),
    invalidates: invalidatedPaths.key,
    success: isActive ? `${name} is disabled: its calls fail from now on.` : `${name} works again.`,
    failure: isActive ? `${name} is not disabled.` : `${name} is not enabled.`,
    undo: (after) => sendAction(back, apiKey, after),
  });
  return (
    <Button variant="default" loading={change.isPending} onClick={() => change.run({})}>
      {isActive ? "Disable" : "Enable"}
    </Button>
  );
}

function Revoke({ apiKey }: { apiKey: Key }) {
  const { name } = apiKey;
  const change = useChange({
    send: () => sendAction("revoke", apiKey),
    invalidates: invalidatedPaths.key,
    success: `${isolated(name)} is revoked.`,
  });
  return (
    <Button
      variant="outline"
      color="var(--bad)"
      onClick={() =>
        confirm({
          title: "Revoke key",
          text: "The key stops working at once, on every gateway. You cannot undo this. Its charges stay.",
          action: "Revoke key",
          typed: name,
          run: () => change.runNow({}),
        })
      }
    >
      Revoke
    </Button>
  );
}

export function KeyActions({ apiKey }: { apiKey: Key }) {
  const may = useMay(apiKey);
  if (apiKey.status === "revoked") return null;
  const isBound = apiKey.disabled_by_admin && !may("key.loosen_limits");
  const maySwitch = !isBound && may(apiKey.status === "active" ? "key.disable" : "key.enable");
  return (
    <Group gap="sm">
      {maySwitch && <Switch apiKey={apiKey} />}
      {may("key.revoke") && <Revoke apiKey={apiKey} />}
    </Group>
  );
}
