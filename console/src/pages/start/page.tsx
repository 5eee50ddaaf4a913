/** How to make a first call, and whether it arrived. */
import { Button, Group, Select, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { FormError } from "../../ui/form-error.tsx";
import { Page } from "../../ui/page.tsx";
import { Code } from "./code.tsx";
import { Mark } from "./mark.tsx";
import { useCreateKey, useModels, useOwnKeys } from "./queries.ts";

const route = getRouteApi("/shell/start");

function FirstKey({ ws }: { ws: string | undefined }) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { data } = api.useQuery("get", "/admin/v1/workspaces", {
    params: { query: { limit: "100" } },
  });
  const create = useCreateKey();
  const workspace = ws ?? me?.memberships[0]?.workspace_id ?? data?.data[0]?.id;
  return (
    <div className="panel">
      <Text mb="md">You have no key yet. A call needs one.</Text>
      <Button
        loading={create.isPending}
        disabled={workspace === undefined}
        onClick={() => create.mutate(workspace!)}
      >
        Make a key
      </Button>
      <FormError error={create.error} />
    </div>
  );
}

/** The model that somebody chose where the key may call it, else the first one. */
const chosenOf = (models: readonly string[], wanted: string | null): string | undefined =>
  wanted !== null && models.includes(wanted) ? wanted : models[0];

export function StartPage() {
  const { ws, model: named } = route.useSearch();
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { data: info } = api.useQuery("get", "/admin/v1/info");
  const keys = useOwnKeys(me?.user_id, ws).data?.data;
  const [keyId, setKeyId] = useState<string | null>(null);
  const key = keys?.find(({ id }) => id === keyId) ?? keys?.[0];
  const models = useModels(key);
  const [model, setModel] = useState<string | null>(named ?? null);
  const chosen = chosenOf(models ?? [], model);
  return (
    <Page title="Make your first call">
      {keys?.length === 0 && <FirstKey ws={ws} />}
      {key !== undefined && info !== undefined && models !== undefined && (
        <>
          <Group align="end" mb="lg">
            <Select
              label="Key"
              w={280}
              allowDeselect={false}
              data={keys!.map(({ id, name, key_last4: end }) => ({
                value: id,
                label: `${name} (...${end})`,
              }))}
              value={key.id}
              onChange={setKeyId}
            />
            <Select
              label="Model"
              w={280}
              searchable
              allowDeselect={false}
              limit={100}
              data={[...models]}
              value={chosen ?? null}
              onChange={setModel}
            />
            <Text>
              Base URL <span className="mono">{info.public_url}</span>
            </Text>
          </Group>
          {chosen === undefined ? (
            <Text>
              This key may call no model. Ask an administrator for a provider, or for a wider
              allowlist.
            </Text>
          ) : (
            <Code url={info.public_url} model={chosen} apiKey={key} />
          )}
          <Mark keyId={key.id} />
        </>
      )}
    </Page>
  );
}
