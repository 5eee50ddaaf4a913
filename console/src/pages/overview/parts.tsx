/** What stands below the tiles of the overview: the course of time, each group, times, errors and counts. */
import type { Shown } from "../../base/period.ts";
import { useWorkspaceNames } from "../../ui/workspaces.ts";
import { Breakdown } from "./breakdown.tsx";
import { Counts } from "./counts.tsx";
import { Errors, Latency } from "./latency.tsx";
import { OverTime } from "./over-time.tsx";
import classes from "./overview.module.css";
import { useSeesOthers, useTags } from "./queries.ts";
import { groups, tagOf, type Group, type OverviewSearch } from "./search.ts";
import type { Total } from "./tiles.tsx";

/** The groups that say something: by member and by workspace where there may be several, by tags that are summed. */
function useGroupsShown({ ws, tag, provider }: OverviewSearch): readonly Group[] {
  const others = useSeesOthers(ws);
  const names = useWorkspaceNames();
  const tags = useTags().map((name): Group => `tag:${name}`);
  const several = ws === undefined && names.size > 1;
  const plain = groups.filter((by) => {
    if (by === "provider" && provider !== undefined) return false;
    if (by === "member") return others;
    return by === "workspace" ? several : tag === undefined;
  });
  // Sums by tags know no provider.
  if (provider !== undefined) return plain;
  // With a tag chosen there are the sums of that tag alone.
  return [...plain, ...tags.filter((by) => tag === undefined || tag.startsWith(`${tagOf(by)}:`))];
}

export function Parts(props: {
  search: OverviewSearch;
  shown: Shown;
  total: bigint | undefined;
  counts: Total | undefined;
  rows: Readonly<Record<string, string | undefined>>;
  set: (change: Partial<OverviewSearch>) => void;
}) {
  const { search, shown, total, counts, rows, set } = props;
  const shownGroups = useGroupsShown(search);
  return (
    <>
      <OverTime {...{ search, shown, rows, set }} groups={shownGroups} />
      <div className={classes["halves"]}>
        {shownGroups.map((by) => (
          <Breakdown key={by} {...{ by, search, shown, rows, set, total }} />
        ))}
        <Latency whose={search} shown={shown} isTable={search.table !== undefined} />
        {search.tag === undefined && <Errors whose={search} shown={shown} rows={rows} />}
        {counts !== undefined && <Counts total={counts} />}
      </div>
    </>
  );
}
