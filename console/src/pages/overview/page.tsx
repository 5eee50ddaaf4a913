/** The overview of a period: spend by group, errors, and durations. Members see the calls of their own keys. */
import { Button, Group as Row, Switch, Text } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { parseUsd, readUsd } from "../../base/money.ts";
import { projectedSpend } from "../../base/pace.ts";
import { monthAfter, shownSpanOf, type ShownSpan } from "../../base/period.ts";
import { readTime } from "../../base/time.ts";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { PeriodPicker, UnreadPeriod } from "../../ui/period-picker.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SetFilters } from "../../ui/set-filters.tsx";
import { Parts, useRequestedGroups } from "./parts.tsx";
import {
  daysOf,
  useLastCall,
  useNow,
  useSeesOthers,
  useTotals,
  useTotalsBefore,
} from "./queries.ts";
import { isCompared, type OverviewSearch } from "./search.ts";
import { nothing, Tiles } from "./tiles.tsx";
import { nothingText } from "./usage.ts";

const route = getRouteApi("/shell/overview");

/** With a tag or provider chosen, other calls say nothing about its own. */
function Nothing({ search, shown, now }: { search: OverviewSearch; shown: ShownSpan; now: Date }) {
  const only = search.tag ?? search.provider;
  const newest = useLastCall(search.ws, only === undefined).data?.data;
  const isNew = newest?.length === 0;
  const last = only === undefined ? newest?.[0] : undefined;
  return (
    <Empty
      text={nothingText({
        only,
        isNew,
        label: shown.label,
        lastAt: last && readTime(new Date(last.created_at), now),
      })}
      to={isNew ? "/start" : "/requests"}
      action={isNew ? "Make your first call" : "Show all requests"}
    />
  );
}

interface AsideProps {
  readonly search: OverviewSearch;
  readonly shown: ShownSpan;
  readonly busy: boolean;
  readonly renew: () => void;
  readonly set: (change: Partial<OverviewSearch>) => void;
}

function Aside({ search, shown, busy, renew, set }: AsideProps) {
  return (
    <Row gap="md" miw={0}>
      <Switch
        label={`Compare with ${shown.beforeLabel}`}
        checked={isCompared(search)}
        onChange={({ currentTarget: { checked } }) => set({ compare: checked ? undefined : "off" })}
      />
      <PeriodPicker
        search={search}
        fallback="7d"
        set={(chosen) => set({ period: undefined, from: undefined, to: undefined, ...chosen })}
      />
      <Button variant="default" onClick={renew} loading={busy}>
        Refresh
      </Button>
    </Row>
  );
}

/** The active tag or provider filter. */
function ActiveFilters({ search, set }: Pick<AsideProps, "search" | "set">) {
  if (search.tag === undefined && search.provider === undefined) return null;
  return (
    <Row mb="md">
      <SetFilters
        names={["tag", "provider"]}
        filters={search}
        remove={(name) => set({ [name]: undefined, by: undefined })}
      />
    </Row>
  );
}

type Read = Pick<ReturnType<typeof useTotals>, "error" | "refetch">;

/** Also shows errors of the comparison period: otherwise numbers without a change would look unchanged. */
function Unreadable({ totals, before }: { totals: Read; before: Read | undefined }) {
  if (totals.error !== null)
    return <RegionError what="usage" error={totals.error} retry={totals.refetch} />;
  if (before === undefined || before.error === null) return null;
  return <RegionError what="period before" error={before.error} retry={before.refetch} />;
}

/** Projects this month's spend at its pace so far. */
function Forecast({ shown, cost }: { shown: ShownSpan; cost: bigint | undefined }) {
  if (shown.word !== "month" || cost === undefined || cost === 0n) return null;
  const { from: begin, to: now } = shown;
  const all = projectedSpend(monthAfter(begin), { spent: cost, begin, now });
  if (all === undefined) return null;
  return (
    <Text mb="lg" className="muted">
      At the pace of this month so far it comes to {readUsd(all)} USD by its end.
    </Text>
  );
}

type Days = Parameters<typeof daysOf>[0];

/** The log filter for the tag in the URL. The end user has a filter of its own. */
const tagged = (tag: string | undefined): { readonly tag?: string; readonly user?: string } => {
  const user = "end_user:";
  if (tag === undefined) return {};
  return tag.startsWith(user) ? { user: tag.slice(user.length) } : { tag };
};

/** The log filter for the period's calls. It always names the period, because the log's default is another one. */
function rowsAt(
  { ws, from, to, tag, provider }: OverviewSearch,
  { word }: ShownSpan,
  of: Days | undefined,
) {
  const span = word === undefined ? { from, to } : { period: word };
  // Sums by tag cover whole days.
  const days = tag !== undefined && of !== undefined ? daysOf(of) : undefined;
  return { ws, ...tagged(tag), provider, ...(days ?? span) };
}

export function OverviewPage() {
  const search: OverviewSearch = route.useSearch();
  const navigate = useNavigate();
  const [now, renew] = useNow();
  const shown = shownSpanOf(search, now);
  const { ws } = search;
  const requestedGroups = useRequestedGroups(search);
  const totals = useTotals(
    search,
    shown,
    search.tag === undefined ? [...requestedGroups, "error_code"] : requestedGroups,
  );
  const before = useTotalsBefore(search, { shown, also: requestedGroups }, isCompared(search));
  const others = useSeesOthers(ws);
  const total = totals.data && (totals.data.data[0] ?? nothing);
  const cost = total && parseUsd(total.cost);
  const rows = rowsAt(search, shown, totals.data);
  const set = (change: Partial<OverviewSearch>) =>
    void navigate({ to: "/overview", search: { ...search, ...change }, resetScroll: false });
  const aside = <Aside {...{ search, shown, renew, set }} busy={totals.isFetching} />;
  return (
    <Page title={others ? "Overview" : "Your use"} aside={aside}>
      <UnreadPeriod unread={shown.unread} label={shown.label} />
      <ActiveFilters search={search} set={set} />
      <Unreadable totals={totals} before={isCompared(search) ? before : undefined} />
      <Tiles
        isFailed={totals.isError}
        now={total}
        before={isCompared(search) ? before.data && (before.data.data[0] ?? nothing) : undefined}
        beforeLabel={shown.beforeLabel}
        search={rows}
      />
      <Forecast shown={shown} cost={cost} />
      {total?.requests === 0 && cost === 0n ? (
        <Nothing {...{ search, shown, now }} />
      ) : (
        <Parts
          {...{ search, shown, requestedGroups, totals, rows, set }}
          before={before.data}
          total={totals.isFetching ? undefined : cost}
          counts={total}
        />
      )}
      <Text size="sm" mt="md" className="muted">
        {search.tag !== undefined && "Sums by tag cover whole days.  "}
        From {shown.from.toISOString()} up to {shown.to.toISOString()}; days are in UTC. Spend comes
        from the ledger.
      </Text>
    </Page>
  );
}
