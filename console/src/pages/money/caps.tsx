/** The tree of caps: workspace, members, keys, each cap as a bar. */
import { Skeleton, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { gatewayNow } from "../../base/clock.ts";
import { isolated } from "../../base/isolated.ts";
import { parseUsd } from "../../base/money.ts";
import { paceText } from "../../base/pace.ts";
import { CapBar } from "../../ui/cap-bar.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import classes from "./money.module.css";
import { useKeysByCap, useMembers, useWorkspace } from "./queries.ts";
import { freeOf, treeOf, type CapLine, type Node } from "./tree.ts";

const windowWords: Readonly<Record<CapLine["window"], string>> = {
  daily: "today",
  weekly: "this week",
  monthly: "this month",
  total: "total",
};

function Name({ node, ws }: { node: Node; ws: string }) {
  if (node.layer === "key")
    return (
      <Link to="/keys/$id" params={{ id: node.id }} search={{ ws }}>
        {node.name}
      </Link>
    );
  if (node.layer === "member")
    return (
      <Link to="/requests" search={{ ws, member: node.id, period: "month" }}>
        {node.name}
      </Link>
    );
  return <strong>{node.name}</strong>;
}

/** When a cap would be reached before it resets. */
function Pace({ line }: { line: CapLine }) {
  const [now] = useState(gatewayNow);
  const amounts = { spent: parseUsd(line.spent), cap: parseUsd(line.cap) };
  const words = paceText(line, amounts, now);
  return words !== undefined && <span className={`warn ${classes["pace"]}`}>{words}</span>;
}

interface BranchProps {
  readonly node: Node;
  readonly ws: string;
  /** There are more keys than were read: keys without a cap sort last. */
  readonly isCut: boolean;
}

function Branch({ node, ws, isCut }: BranchProps) {
  return (
    <li>
      <div className={classes["node"]}>
        <span className="cut" title={node.name}>
          <Name node={node} ws={ws} /> <span className="muted">{node.layer}</span>
        </span>
        <div className={classes["bars"]}>
          {node.lines.length === 0 && <span className="muted">no cap</span>}
          {node.lines.map((line) => {
            const { window, hard, ...cap } = line;
            return (
              <div key={window} className={classes["line"]}>
                <span className="muted">
                  {windowWords[window]}
                  {hard && ", hard"}
                </span>
                <CapBar label={`${isolated(node.name)}, ${windowWords[window]}`} {...cap} />
                <Pace line={line} />
              </div>
            );
          })}
        </div>
      </div>
      {(node.below.length > 0 || node.free > 0) && (
        <ul className={classes["below"]}>
          {node.below.map((one) => (
            <Branch key={`${one.layer} ${one.id}`} node={one} ws={ws} isCut={isCut} />
          ))}
          {node.free > 0 && <li className="muted">{freeOf(node.free, isCut)}</li>}
        </ul>
      )}
    </li>
  );
}

export function Caps({ id }: { id: string }) {
  const workspace = useWorkspace(id);
  const members = useMembers(id);
  const keys = useKeysByCap(id);
  const reads = [workspace, members, keys];
  const error = workspace.error ?? members.error ?? keys.error;
  const readAgain = () => reads.forEach((one) => one.error !== null && void one.refetch());
  const isKnown = workspace.data && members.rows && keys.rows;
  return (
    <section aria-label="Caps">
      <Title order={2} size="h4" mb="sm">
        Caps (USD), the nearest to its limit first
      </Title>
      {error !== null && <RegionError what="caps" error={error} retry={readAgain} />}
      {error === null && !isKnown && <Skeleton height={160} />}
      {isKnown && (
        <ul className={classes["tree"]}>
          <Branch
            ws={id}
            isCut={keys.isCut}
            node={treeOf({ workspace: workspace.data, members: members.rows, keys: keys.rows })}
          />
        </ul>
      )}
      {(members.isCut || keys.isCut) && (
        <Text size="sm" className="muted">
          There are more members or keys; those nearest to their caps are shown.
        </Text>
      )}
      <Text size="sm" mt="md" className="muted">
        Days, weeks and months are in UTC. A hard cap also counts reservations.
      </Text>
    </section>
  );
}
