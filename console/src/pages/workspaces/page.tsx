/** The workspaces that the reader may change, and a form to create one. */
import { Anchor, Button, Select, Table, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, client } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { isolated } from "../../base/isolated.ts";
import { mayAll } from "../../base/rights.ts";
import { CapBar } from "../../ui/cap-bar.tsx";
import { useChange } from "../../ui/change.ts";
import { CreateDialog, CreateForm } from "../../ui/create.tsx";
import { Money } from "../../ui/money.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { searchableSelect } from "../../ui/use-searched.ts";
import { choicesMax, useOrganizations, useWorkspaces } from "../../ui/workspaces.ts";

function Fields({ done }: { done: (id: string) => void }) {
  const { rows: organizations = [] } = useOrganizations();
  const [name, setName] = useState("");
  const [organization, setOrganization] = useState<string | null>(null);
  const change = useChange({
    send: async () => {
      const body = { name, organization_id: organization };
      return (await client.POST("/admin/v1/workspaces", { body })).data!;
    },
    invalidates: invalidatedPaths.workspace,
    done: ({ id }) => done(id),
  });
  return (
    <CreateForm change={change} shown={["name", "organization_id"]}>
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        error={change.at("name")}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Select
        label="Organization"
        placeholder="None: a personal workspace, without spend caps"
        clearable
        {...searchableSelect}
        limit={choicesMax}
        nothingFoundMessage="No such organization"
        data={organizations.map((one) => ({ value: one.id, label: one.name }))}
        value={organization}
        error={change.at("organization_id")}
        onChange={setOrganization}
      />
    </CreateForm>
  );
}

const numbers = ["This month (USD)", "Credit line (USD)"];

/** A workspace's credit line: an amount, or the word "unlimited". */
const Line = ({ amount }: { amount: string }) =>
  amount === "unlimited" ? amount : <Money amount={amount} />;

function List() {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  // The shell shows why they could not be read.
  const { rows, error } = useWorkspaces();
  const workspaces = (rows ?? []).filter(
    ({ id }) => me !== undefined && mayAll(me.rights, "workspace.change", id),
  );
  if (rows === undefined) return <Loading of={[{ rows, error }]} />;
  return (
    <SmallTable
      label="Workspaces"
      minWidth={520}
      headers={["Name", "Status", ...numbers]}
      numbers={numbers}
    >
      {workspaces.map((one) => (
        <Table.Tr key={one.id}>
          <Table.Td style={{ overflowWrap: "anywhere" }}>
            <Anchor
              renderRoot={(props) => (
                <Link
                  to="/settings/workspaces/$id"
                  params={{ id: one.id }}
                  search={({ ws }) => ({ ws })}
                  {...props}
                />
              )}
            >
              {one.name}
            </Anchor>
          </Table.Td>
          <Table.Td>{one.status}</Table.Td>
          <Table.Td ta="right">
            <CapBar
              label={`Spend of ${isolated(one.name)} this month`}
              short
              cap={one.spend_caps.monthly}
              spent={one.spend.monthly}
              remaining={one.remaining.monthly}
              resetsAt={one.resets_at.monthly}
            />
          </Table.Td>
          <Table.Td ta="right">
            <Line amount={one.credit_line} />
          </Table.Td>
        </Table.Tr>
      ))}
    </SmallTable>
  );
}

export function WorkspacesPage() {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const navigate = useNavigate();
  const [isMaking, setMaking] = useState(false);
  const mayMake = me !== undefined && mayAll(me.rights, "workspace.create");
  const open = (id: string) =>
    void navigate({ to: "/settings/workspaces/$id", params: { id }, search: {} });
  return (
    <Settings
      title="Workspaces"
      isClosed={me !== undefined && !mayAll(me.rights, "workspace.change")}
      aside={mayMake && <Button onClick={() => setMaking(true)}>New workspace</Button>}
    >
      <List />
      <CreateDialog opened={isMaking} close={() => setMaking(false)} title="New workspace">
        <Fields done={open} />
      </CreateDialog>
    </Settings>
  );
}
