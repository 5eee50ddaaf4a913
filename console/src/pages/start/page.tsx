/** Guides to a first call, and shows whether it arrived. */
import { Button, Group, Select, Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { keyLabel } from "../../base/key-label.ts";
import { reachableUrl } from "../../base/reachable-url.ts";
import { Copy } from "../../ui/copy.tsx";
import { FormError } from "../../ui/form-error.tsx";
import { KeyRefusal } from "../../ui/key-state-text.tsx";
import { NoWorkspace, useKeyWorkspace } from "../../ui/key-workspace.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useMay } from "../../ui/use-may.ts";
import { searchableSelect } from "../../ui/use-searched.ts";
import { Code } from "./code.tsx";
import { Mark } from "./mark.tsx";
import { callableOf, useCreateKey, useModels, useOwnKeys, type Key } from "./queries.ts";

const route = getRouteApi("/shell/start");

function FirstKey({ ws }: { ws: string | undefined }) {
  const { id: workspace, isNone } = useKeyWorkspace(ws);
  const create = useCreateKey();
  if (isNone) return <NoWorkspace />;
  return (
    <div className="panel">
      <Text mb="md">You have no key yet. A call needs one.</Text>
      <Button
        loading={create.isPending}
        disabled={workspace === undefined}
        onClick={() => create.mutate(workspace!)}
      >
        Create a key
      </Button>
      <FormError error={create.error} />
    </div>
  );
}

/** The reader's chosen model if the key may call it, else the first one. */
const chosenOf = (models: readonly string[], wanted: string | null): string | undefined =>
  wanted !== null && models.includes(wanted) ? wanted : models[0];

/** Why there is nothing to call: no provider exists yet, or the key may call none of the models. */
function NoModel({ isAny }: { isAny: boolean }) {
  const mayAdd = useMay("provider.create");
  if (isAny || !mayAdd)
    return (
      <Text>
        This key may not call any model. Ask an administrator for a provider, or for a wider
        allowlist.
      </Text>
    );
  return (
    <div className="panel">
      <Text mb="md">There is no text model yet. Add a provider to get its models.</Text>
      <Button
        renderRoot={(button) => (
          <Link to="/providers" search={({ ws }) => ({ ws, add: "1" })} {...button} />
        )}
      >
        Add a provider
      </Button>
    </div>
  );
}

const choiceOf = ({ id, name, key_last4: end }: Key) => ({
  value: id,
  label: keyLabel(name, end),
});

/** Code for the key and model, and whether the first call arrived. */
function FirstCall(props: {
  keys: readonly [Key, ...Key[]];
  url: string;
  named: string | undefined;
}) {
  const { keys, url, named } = props;
  const [keyId, setKeyId] = useState<string | null>(null);
  const [model, setModel] = useState<string | null>(named ?? null);
  const key = keys.find(({ id }) => id === keyId) ?? keys[0];
  const { data, error, refetch } = useModels(key.id);
  const refusal = error !== null && <RegionError what="models" error={error} retry={refetch} />;
  if (data === undefined) return refusal || <Loading of={[{ data, error }]} />;
  const models = callableOf(data.data);
  const chosen = chosenOf(models, model);
  return (
    <>
      {refusal}
      <Group align="end" mb="lg">
        <Select
          label="Key"
          w={280}
          allowDeselect={false}
          data={keys.map(choiceOf)}
          value={key.id}
          onChange={setKeyId}
        />
        <Select
          label="Model"
          w={280}
          {...searchableSelect}
          allowDeselect={false}
          limit={100}
          data={[...models]}
          value={chosen ?? null}
          onChange={setModel}
        />
        <Group gap="sm" mih={36}>
          <Text>
            Base URL <span className="mono">{url}</span>
          </Text>
          <Copy label="the base URL" text={() => url} />
        </Group>
      </Group>
      <KeyRefusal of={key} />
      {model !== null && chosen !== undefined && chosen !== model && (
        <Text component="output" display="block" mb="md">
          This key may not call {model}. The code is for {chosen}.
        </Text>
      )}
      {chosen === undefined ? (
        <NoModel isAny={data.data.some(({ kind }) => kind === "text")} />
      ) : (
        <Code url={url} model={chosen} apiKey={key} />
      )}
      <Mark keyId={key.id} />
    </>
  );
}

/** Every reader of the log of the first start may have this password. */
function FirstPassword() {
  return (
    <Text role="note" mb="lg">
      You still sign in with the password that the first start printed.{" "}
      <Link to="/account" search={({ ws }) => ({ ws })}>
        Choose your own
      </Link>
      .
    </Text>
  );
}

export function StartPage() {
  const { ws, model: named } = route.useSearch();
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const reads = {
    page: api.useQuery("get", "/admin/v1/info"),
    keys: useOwnKeys(me?.user_id, ws),
  };
  const keys = reads.keys.data?.data;
  const [first, ...others] = keys ?? [];
  const info = reads.page.data;
  return (
    <Page title="Make your first call">
      {me?.has_first_password === true && <FirstPassword />}
      {Object.entries(reads).map(
        ([what, { error, refetch }]) =>
          error !== null && <RegionError key={what} what={what} error={error} retry={refetch} />,
      )}
      <Loading of={Object.values(reads)} />
      {keys?.length === 0 && <FirstKey ws={ws} />}
      {first !== undefined && info !== undefined && (
        <FirstCall
          keys={[first, ...others]}
          url={reachableUrl(info.public_url, location.origin)}
          named={named}
        />
      )}
    </Page>
  );
}
