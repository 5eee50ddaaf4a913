/** The cost and duration of a call from its log row, and the parameters that the gateway changed. */
import { Text } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { readCount, readDuration } from "../../base/numbers.ts";
import { usdText, parseUsd } from "../../base/money.ts";
import { Money } from "../../ui/money.tsx";
import { textAt } from "./json.ts";
import { rowOf } from "./queries.ts";

const outOf = (usage: unknown): number | undefined => {
  const count = (usage as { output_tokens?: unknown } | null)?.output_tokens;
  return typeof count === "number" ? count : undefined;
};

/** The facts of one ended call. */
export function Cost({ id }: { id: string }) {
  const { data: row, isError } = useQuery(rowOf(id));
  const link = (
    <Link to="/requests/$id" params={{ id }} search={({ ws }) => ({ ws })}>
      request
    </Link>
  );
  if (row === undefined)
    return (
      <Text size="sm" className="muted" mih={20}>
        {isError ? "Cost not in the log yet:  " : "Waiting for the cost:  "}
        {link}
      </Text>
    );
  const out = outOf(row.usage);
  const facts = [
    row.first_token_ms !== null &&
      row.stream === true &&
      `${readDuration(row.first_token_ms)} first`,
    row.duration_ms !== null && readDuration(row.duration_ms),
    out !== undefined && out > 0 && `${readCount(out)} out`,
  ].filter((fact) => typeof fact === "string");
  return (
    <>
      <Text size="sm" mih={20} className="number" style={{ whiteSpace: "normal" }}>
        {facts.map((fact) => `${fact}, `)}
        <Money amount={row.cost} unit />
        {", "}
        {link}
      </Text>
      {row.changes.map(({ param, action, note }) => (
        <Text key={`${param} ${note}`} size="sm" style={{ overflowWrap: "anywhere" }}>
          <span className="mono">{param}</span> {action}
          {note !== null && `: ${note}`}
        </Text>
      ))}
    </>
  );
}

/** The total cost of this page's calls, as far as they are in the log. */
export function Spent({ ids }: { ids: readonly string[] }) {
  const sum = useQueries({
    queries: ids.map(rowOf),
    combine: (rows) =>
      rows.reduce((total, { data }) => total + parseUsd(textAt(data, "cost") || "0"), 0n),
  });
  return (
    <Text size="sm">
      Spent here <Money amount={usdText(sum)} unit />
    </Text>
  );
}
