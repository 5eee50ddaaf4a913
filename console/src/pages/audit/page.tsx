/** The audit log: who changed what, with the values before and after. */
import { Button, Group, Text, TextInput } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { periodQuery } from "../../base/period-query.ts";
import { gatewayMs } from "../../base/clock.ts";
import { mayAll } from "../../base/rights.ts";
import { AuditEntries } from "../../ui/audit-entries.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { useWritten } from "../../ui/form.ts";
import { More } from "../../ui/more.tsx";
import { usePages } from "../../ui/pages.ts";
import { PeriodPicker } from "../../ui/period-picker.tsx";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";

const route = getRouteApi("/shell/settings/audit");

type Entry = Schemas["AuditEntries"]["data"][number];
type Filters = ReturnType<typeof route.useSearch>;

const names = ["actor", "action", "subject"] as const;
const moments = ["period", "from", "to"] as const;
const labels = { actor: "Who (id)", action: "Action, such as key.change", subject: "Object (id)" };

const useEntries = ({ ws, actor, action, subject, ...period }: Filters) =>
  usePages({
    key: ["get", "/admin/v1/audit", { ws, actor, action, subject, ...period }, "pages"],
    async read(cursor, signal) {
      const query = {
        limit: "50",
        workspace_id: ws,
        actor_id: actor,
        action,
        subject_id: subject,
        ...periodQuery(period, gatewayMs()),
        cursor,
      };
      return (await client.GET("/admin/v1/audit", { params: { query }, signal })).data!;
    },
  });

/** A link to the entries with the same value. */
function Others({ of, children }: { of: Partial<Filters>; children: ReactNode }) {
  return (
    <Link to="/settings/audit" search={(before) => ({ ...before, ...of })}>
      {children}
    </Link>
  );
}

/** The object of an entry: a key links to its page, other objects to their entries. */
function Subject({ entry: { subject } }: { entry: Entry }) {
  const text =
    subject.name === null ? (
      <span className="mono">{subject.id}</span>
    ) : (
      <span title={subject.id} style={{ overflowWrap: "anywhere" }}>
        {subject.name}
      </span>
    );
  if (subject.type !== "api_key") return <Others of={{ subject: subject.id }}>{text}</Others>;
  return (
    <Link to="/keys/$id" params={{ id: subject.id }} search={({ ws }) => ({ ws })}>
      {text}
    </Link>
  );
}

const subjectOf = (entry: Entry) => <Subject entry={entry} />;
const whoOf = ({ actor: { id, name } }: Entry) =>
  id === null ? name : <Others of={{ actor: id }}>{name}</Others>;
const whatOf = ({ action }: Entry) => <Others of={{ action }}>{action}</Others>;

function Filter({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  const { form, written } = useWritten(names);
  const set = (change: Partial<Filters>) =>
    void navigate({ to: "/settings/audit", search: { ...filters, ...written(), ...change } });
  return (
    <form
      ref={form}
      key={names.map((name) => filters[name]).join(" ")}
      onSubmit={(event) => {
        event.preventDefault();
        set({});
      }}
    >
      <Group gap="sm" mb="lg">
        {names.map((name) => (
          <TextInput
            key={name}
            name={name}
            aria-label={labels[name]}
            placeholder={labels[name]}
            defaultValue={filters[name]}
          />
        ))}
        <PeriodPicker
          search={filters}
          fallback={null}
          set={(chosen) => set({ period: undefined, from: undefined, to: undefined, ...chosen })}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
        <ClearFilters
          form={form}
          isSet={[...names, ...moments].some((name) => filters[name] !== undefined)}
          clear={() => void navigate({ to: "/settings/audit", search: ({ ws }) => ({ ws }) })}
        />
      </Group>
    </form>
  );
}

export function AuditPage() {
  const filters = route.useSearch();
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const query = useEntries(filters);
  const entries = query.data?.pages.flatMap(({ data }) => data);
  return (
    <Settings
      title="Audit log"
      isClosed={me !== undefined && !mayAll(me.rights, "audit.read", filters.ws)}
    >
      <Filter filters={filters} />
      {query.error !== null && (
        <RegionError what="entries" error={query.error} retry={query.refetch} />
      )}
      <Loading of={[query]} />
      {entries?.length === 0 && <Text className="muted">No changes match these filters.</Text>}
      {entries !== undefined && entries.length > 0 && (
        <AuditEntries entries={entries} subject={subjectOf} who={whoOf} what={whatOf} />
      )}
      <More next={query} />
    </Settings>
  );
}
