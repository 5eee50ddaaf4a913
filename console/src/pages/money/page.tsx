/** Money: balance, caps, and the check of the ledger. Members see the balance and their own caps. */
import { Button, Group } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { isMissing } from "../../api/errors.ts";
import { mayAll } from "../../base/rights.ts";
import { NoWorkspace } from "../../ui/key-workspace.tsx";
import { Loading } from "../../ui/loading.tsx";
import { useOneWorkspace } from "../../ui/one-workspace.ts";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useWorkspaces } from "../../ui/workspaces.ts";
import { BalanceOf, Balances } from "./balance.tsx";
import { Caps } from "./caps.tsx";
import { AddCredit } from "./credit.tsx";
import { useWorkspace } from "./queries.ts";
import { Verify } from "./verify.tsx";

const route = getRouteApi("/shell/money");

export function MoneyPage() {
  const { ws } = route.useSearch();
  const { id, choices } = useOneWorkspace(ws);
  const { error } = useWorkspace(id);
  const workspaces = useWorkspaces();
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const may = (action: string) => me !== undefined && mayAll(me.rights, action, id);
  const name = choices?.find((one) => one.id === id)?.name ?? "this workspace";
  const aside = id !== undefined && (
    <Group gap="sm">
      {may("ledger.read") && (
        <Button
          variant="default"
          renderRoot={(button) => <Link to="/money/ledger" search={{ ws: id }} {...button} />}
        >
          Ledger
        </Button>
      )}
      {may("workspace.add_credits") && <AddCredit key={id} id={id} name={name} />}
    </Group>
  );
  if (isMissing(error))
    return (
      <Page title="Money">
        <RegionError what="workspace" error={error} />
      </Page>
    );
  return (
    <Page title="Money" aside={aside}>
      {id === undefined && <Loading of={[workspaces]} />}
      {id !== undefined && <BalanceOf id={id} mayRead={may("ledger.read")} />}
      {may("ledger.verify") && <Verify />}
      {id !== undefined && <Caps id={id} />}
      {id === undefined && choices !== undefined && choices.length > 0 && (
        <Balances count={choices.length} />
      )}
      <NoWorkspace />
    </Page>
  );
}
