/** The provider's failed attempts of the last hour, with the vendor's own messages. */
import { Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { readCount, readShare } from "../../base/numbers.ts";
import { Part } from "../../ui/part.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { failuresOf, type Provider } from "./state.ts";

export function Errors({ provider }: { provider: Provider }) {
  const { calls_last_hour: calls = 0, errors_last_hour: errors = [] } = provider;
  return (
    <Part title="The last hour">
      <Text mb={errors.length > 0 ? "sm" : 0}>
        {readCount(calls)} {calls === 1 ? "attempt" : "attempts"}, {readCount(failuresOf(provider))}{" "}
        failed
        {calls > 0 && ` (${readShare(BigInt(failuresOf(provider)), BigInt(calls))})`}, on all
        gateways.{" "}
        <Link
          to="/requests"
          search={({ ws }) => ({ ws, asked: provider.id, status: "failed", period: "24h" })}
        >
          Failed calls that tried it
        </Link>
        {" and "}
        <Link to="/requests" search={({ ws }) => ({ ws, asked: provider.id, period: "24h" })}>
          all calls that tried it
        </Link>
        , of the last 24 hours.
      </Text>
      {errors.length > 0 && (
        <SmallTable
          label="Errors of the last hour"
          headers={["Error", "Count", "Last message of the vendor"]}
          numbers={["Count"]}
          minWidth={480}
        >
          {errors.map(({ code, count, last_message: message }) => (
            <Table.Tr key={code}>
              <Table.Td className="bad">{code}</Table.Td>
              <Table.Td className="number" ta="right">
                {readCount(count)}
              </Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{message ?? "-"}</Table.Td>
            </Table.Tr>
          ))}
        </SmallTable>
      )}
    </Part>
  );
}
