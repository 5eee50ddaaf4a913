/** The columns of the provider list: all for organization admins, state and models for other readers. */
import { Link } from "@tanstack/react-router";
import { gatewayMs } from "../../base/clock.ts";
import { readCount, readShare } from "../../base/numbers.ts";
import { readTime } from "../../base/time.ts";
import type { Column } from "../../ui/data-table.tsx";
import { failuresOf, nextProbe, outSince, stateLabelOf, untilOf, type Provider } from "./state.ts";

const nothing = <span className="muted">-</span>;

function since(provider: Provider) {
  const time = outSince(provider);
  if (time === undefined) return nothing;
  return <time dateTime={time}>{readTime(new Date(time))}</time>;
}

function next(provider: Provider) {
  const { paused_until: paused } = provider;
  if (paused !== null) return `resumes ${untilOf(paused, gatewayMs())}`;
  const at = nextProbe(provider);
  return at === undefined ? nothing : untilOf(at, gatewayMs());
}

function Keys({ credentials = [] }: Provider) {
  const resting = credentials.filter(({ cooldown_until: until }) => until !== null);
  if (resting.length === 0) return credentials.length;
  return (
    <span className="warn">
      {resting.length} of {credentials.length} resting
    </span>
  );
}

const id: Column<Provider> = {
  header: "Provider",
  cell: (one) => (
    <Link to="/providers/$id" params={{ id: one.id }} search={({ ws }) => ({ ws })}>
      {one.id}
    </Link>
  ),
};
const state: Column<Provider> = {
  header: "State",
  width: 150,
  cell: (one) => {
    const { word, tone } = stateLabelOf(one);
    return <span className={tone}>{word}</span>;
  },
};
const models: Column<Provider> = {
  header: "Models",
  width: 80,
  align: "right",
  wide: true,
  roomy: true,
  cell: ({ models: offered }) => offered.length,
};

export const outsideColumns: readonly Column<Provider>[] = [id, state, models];

export const insideColumns: readonly Column<Provider>[] = [
  id,
  state,
  { header: "Since", width: 150, wide: true, cell: since },
  { header: "Next attempt", width: 150, wide: true, roomy: true, cell: next },
  {
    header: "Calls 1 h",
    width: 90,
    align: "right",
    wide: true,
    cell: ({ calls_last_hour: calls }) => (calls === undefined ? nothing : readCount(calls)),
  },
  {
    header: "Failed",
    width: 80,
    align: "right",
    phoneName: "failed",
    cell: (one) => {
      const calls = one.calls_last_hour ?? 0;
      return calls === 0 ? nothing : readShare(BigInt(failuresOf(one)), BigInt(calls));
    },
  },
  models,
  { header: "Keys", width: 130, align: "right", wide: true, cell: (one) => <Keys {...one} /> },
  { header: "Source", width: 110, wide: true, roomy: true, cell: ({ source }) => source },
];
