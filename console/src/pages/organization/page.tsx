/** The settings of an organization: the outermost layer of allowlists and routing. */
import { Button, Select, Stack, TextInput } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { keepsShownData } from "../../api/errors.ts";
import { ifMatch } from "../../api/etag.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { previousValues } from "../../base/previous-values.ts";
import { mayAll } from "../../base/rights.ts";
import { routingOf, type Routing } from "../../base/routing.ts";
import { useChange } from "../../ui/change.ts";
import { CreateDialog, CreateForm } from "../../ui/create.tsx";
import { changedFields, useDraft } from "../../ui/draft.ts";
import { LayerFields } from "../../ui/layer-fields.tsx";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SaveBar } from "../../ui/save-bar.tsx";
import { Settings } from "../../ui/settings.tsx";
import { searchableSelect } from "../../ui/use-searched.ts";
import { choicesMax, useOrganizations } from "../../ui/workspaces.ts";

const route = getRouteApi("/shell/settings/organization");

type Organization = Schemas["Organization"];
type Patch = Schemas["ChangeOrganizationRequest"];

const fieldsOf = ({ name, model_allowlist, routing }: Organization) => ({
  name,
  model_allowlist: model_allowlist as readonly string[],
  routing: routing as Routing,
});

function patchOf({
  routing,
  model_allowlist,
  ...others
}: Partial<ReturnType<typeof fieldsOf>>): Patch {
  return {
    ...others,
    ...(model_allowlist !== undefined && { model_allowlist: [...model_allowlist] }),
    ...(routing !== undefined && { routing: routingOf(routing) }),
  };
}

const send = async (id: string, body: Patch, header: { "If-Match"?: string }) =>
  (await client.PATCH("/admin/v1/organizations/{id}", { params: { path: { id }, header }, body }))
    .data!;

function Form({ organization }: { organization: Organization }) {
  const draft = useDraft(organization, fieldsOf);
  const { base } = draft;
  const path = { id: base.id };
  const change = useChange({
    base,
    read: async () =>
      (await client.GET("/admin/v1/organizations/{id}", { params: { path } })).data!,
    send: (body: Patch, headers) => send(base.id, body, headers.ifMatch),
    invalidates: invalidatedPaths.organization,
    settled: draft.settle,
    dropped: draft.discard,
    success: "Saved.",
    undo: (after, body, before) => {
      const former = previousValues(before, body);
      const routing = body.routing === undefined ? {} : { routing: routingOf(before.routing) };
      return send(base.id, { ...former, ...routing }, ifMatch(after));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run(patchOf(changedFields(fieldsOf(base), draft.fields)));
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md" maw={720}>
        <LayerFields
          fields={draft.fields}
          set={draft.set}
          at={change.at}
          outOfScope={organization.out_of_scope_models}
        />
        <SaveBar draft={draft} change={change} shown={["name", "model_allowlist", "routing"]} />
      </Stack>
    </form>
  );
}

function NewOrganization({ done }: { done: (id: string) => void }) {
  const [name, setName] = useState("");
  const change = useChange({
    send: async () => (await client.POST("/admin/v1/organizations", { body: { name } })).data!,
    invalidates: invalidatedPaths.organization,
    done: ({ id }) => done(id),
  });
  return (
    <CreateForm change={change} shown={["name"]}>
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        error={change.at("name")}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
    </CreateForm>
  );
}

function One({ id }: { id: string }) {
  const { data, error, refetch } = api.useQuery("get", "/admin/v1/organizations/{id}", {
    params: { path: { id } },
  });
  return (
    <>
      {error !== null && <RegionError what="organization" error={error} retry={refetch} />}
      <Loading of={[{ data, error }]} />
      {data !== undefined && keepsShownData(error) && <Form key={data.id} organization={data} />}
    </>
  );
}

export function OrganizationPage() {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { id: chosen } = route.useSearch();
  const navigate = useNavigate();
  const [isMaking, setMaking] = useState(false);
  const { rows, error, refetch } = useOrganizations();
  const organizations = rows ?? [];
  const id = chosen ?? organizations.at(-1)?.id;
  const open = (other: string | null) => {
    setMaking(false);
    void navigate({
      to: "/settings/organization",
      search: ({ ws }) => ({ ws, id: other ?? undefined }),
    });
  };
  return (
    <Settings
      title="Organization"
      isClosed={me !== undefined && !mayAll(me.rights, "organization.change")}
      aside={<Button onClick={() => setMaking(true)}>New organization</Button>}
    >
      {error !== null && <RegionError what="organizations" error={error} retry={refetch} />}
      <Loading of={[{ rows, error }]} />
      {organizations.length > 1 && (
        <Select
          label="Organization"
          maw={720}
          mb="lg"
          {...searchableSelect}
          limit={choicesMax}
          nothingFoundMessage="No such organization"
          allowDeselect={false}
          data={organizations.map((one) => ({ value: one.id, label: one.name }))}
          value={id ?? null}
          onChange={open}
        />
      )}
      {id !== undefined && <One id={id} />}
      <CreateDialog opened={isMaking} close={() => setMaking(false)} title="New organization">
        <NewOrganization done={open} />
      </CreateDialog>
    </Settings>
  );
}
