/** The differing fields of the request and the upstream request, side by side. */
import { Table, Text } from "@mantine/core";
import { readCount } from "../../../base/numbers.ts";
import { comparisonOf, type Mark } from "./comparison.ts";

const tones: Readonly<Record<Mark, string>> = {
  same: "muted",
  changed: "warn",
  dropped: "bad",
  added: "ok",
};
const shownMax = 200;
const lengthMax = 500;

const Value = ({ text }: { text: string | undefined }) => (
  <Table.Td className="mono" style={{ overflowWrap: "anywhere", verticalAlign: "top" }}>
    {text === undefined ? (
      <span className="muted">-</span>
    ) : (
      text.slice(0, lengthMax) + (text.length > lengthMax ? "..." : "")
    )}
  </Table.Td>
);

export function ComparedBodies(props: { request: string | null; sent: string | null }) {
  const all = comparisonOf(props.request, props.sent);
  if (all === undefined)
    return <Text>Request and sent request cannot be compared: one is missing or was cut.</Text>;
  const other = all.filter(({ mark }) => mark !== "same");
  return (
    <>
      <Text mb="sm">
        {readCount(all.length - other.length)} fields were sent as they were asked for,{" "}
        {readCount(other.length)} were not.
        {other.length > shownMax && ` The first ${shownMax} are shown.`}
      </Text>
      {other.length > 0 && (
        <Table aria-label="Asked for and sent" style={{ tableLayout: "fixed" }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="22%">Field</Table.Th>
              <Table.Th>Asked for</Table.Th>
              <Table.Th>Sent</Table.Th>
              <Table.Th w={90}>Change</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {other.slice(0, shownMax).map(({ field, requested, sent, mark }) => (
              <Table.Tr key={field}>
                <Table.Th className="mono" style={{ overflowWrap: "anywhere" }}>
                  {field}
                </Table.Th>
                <Value text={requested} />
                <Value text={sent} />
                <Table.Td className={tones[mark]}>{mark}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </>
  );
}
