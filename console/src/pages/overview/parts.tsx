/** The sections below the overview's tiles: usage over time, each group, durations, errors and counts. */
import type { ShownSpan } from "../../base/period.ts";
import { useWorkspaceNames } from "../../ui/workspaces.ts";
import { Breakdown, TagBreakdown } from "./breakdown.tsx";
import { Counts } from "./counts.tsx";
import { Errors, Latency } from "./latency.tsx";
import { OverTime } from "./over-time.tsx";
import classes from "./overview.module.css";
import { groupIn, useSeesOthers, useTags, type Totals } from "./queries.ts";
import {
  byOf,
  groups,
  isCompared,
  tagOf,
  type Group,
  type NamedGroup,
  type OverviewSearch,
} from "./search.ts";
import type { Total } from "./tiles.tsx";

/** The groups to query: by member only if there may be several. With a tag, only sums of that tag exist. */
export function useRequestedGroups({ ws, tag, provider }: OverviewSearch): readonly NamedGroup[] {
  const others = useSeesOthers(ws);
  return groups.filter((by) => {
    if (by === "provider" && provider !== undefined) return false;
    if (by === "member") return others;
    return by === "workspace" ? ws === undefined : tag === undefined;
  });
}

/** The tags with usage sums, as groups. Sums by tag have no provider, and with a tag chosen there is no other one. */
function useTagsShown({ tag, provider }: OverviewSearch): readonly Group[] {
  const tags = useTags().map((name): Group => `tag:${name}`);
  if (provider !== undefined) return [];
  return tags.filter((by) => tag === undefined || tag.startsWith(`${tagOf(by)}:`));
}

export function Parts(props: {
  search: OverviewSearch;
  shown: ShownSpan;
  requestedGroups: readonly NamedGroup[];
  totals: Totals;
  /** The comparison period; undefined while it loads. */
  before: Totals["data"];
  total: bigint | undefined;
  counts: Total | undefined;
  rows: Readonly<Record<string, string | undefined>>;
  set: (change: Partial<OverviewSearch>) => void;
}) {
  const { search, shown, requestedGroups, totals, before, total, counts, rows, set } = props;
  const several = useWorkspaceNames().size > 1;
  const plain = requestedGroups.filter((by) => by !== "workspace" || several);
  const tags = useTagsShown(search);
  const shownGroups = [...plain, ...tags];
  const compared = isCompared(search) ? before : undefined;
  return (
    <>
      <OverTime {...{ search, shown, rows, set }} groups={shownGroups} />
      <div className={classes["halves"]}>
        {plain.map((by) => (
          <Breakdown
            key={by}
            {...{ by, search, shown, rows, set, total }}
            query={totals}
            found={groupIn(totals.data, by)}
            before={groupIn(compared, by)}
          />
        ))}
        {tags.map((by) => (
          <TagBreakdown key={by} {...{ by, search, shown, rows, set }} />
        ))}
        <Latency
          scope={search}
          shown={shown}
          by={byOf(search, shownGroups)}
          isTable={search.table !== undefined}
        />
        {search.tag === undefined && <Errors query={totals} rows={rows} />}
        {counts !== undefined && <Counts total={counts} />}
      </div>
    </>
  );
}
