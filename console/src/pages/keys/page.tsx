/** Keys: whose they are, what they may spend, and how near that is. */
import { getRouteApi } from "@tanstack/react-router";
import { Empty } from "../../ui/empty.tsx";
import { LongList } from "../../ui/long-list.tsx";
import { Page } from "../../ui/page.tsx";
import { columns } from "./columns.tsx";
import { useKeys } from "./queries.ts";

const route = getRouteApi("/shell/keys");

export function KeysPage() {
  const filters = route.useSearch();
  return (
    <Page title="Keys">
      <LongList
        query={useKeys(filters)}
        what="keys"
        label="Keys, newest first"
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty text="No keys yet." to="/start" action="Make your first call" />}
      />
    </Page>
  );
}
