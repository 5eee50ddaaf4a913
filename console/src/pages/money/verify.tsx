/** The check of the ledger: the last one, the running one, and a button to start another. */
import { Button, Group, Text, Title } from "@mantine/core";
import { client, type Schemas } from "../../api/client.ts";
import { readCount } from "../../base/numbers.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { FormError } from "../../ui/form-error.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import classes from "./money.module.css";
import { useVerification } from "./queries.ts";

type Verification = Schemas["Verification"];

function sentenceOf(run: Verification): string {
  const when = run.finished_at ?? run.started_at;
  const at = when === null ? "" : readTime(new Date(when));
  const entries = `${readCount(run.entries)} entries`;
  if (run.state === "never") return "Not checked here yet.";
  if (run.state === "running") return `Checking since ${at}.`;
  if (run.state === "failed") return `The check of ${at} failed; the gateway's log says why.`;
  if (run.state === "interrupted")
    return `The check of ${at} was interrupted: the gateway stopped.`;
  return run.differences_count === 0
    ? `No difference in ${entries}, checked ${at}.`
    : `${run.differences_count} differences in ${entries}, checked ${at}.`;
}

function Differences({ run }: { run: Verification }) {
  return (
    <table className={classes["table"]} width="100%" aria-label="Differences">
      <thead>
        <tr>
          {["Workspace", "What", "Recorded", "Sum of entries"].map((title) => (
            <th key={title} style={{ textAlign: "left" }}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {run.differences.map(({ workspace_id: ws, what, recorded, computed }) => (
          <tr key={`${ws} ${what}`}>
            <td className="cut" title={ws}>
              {ws}
            </td>
            <td className="cut" title={what}>
              {what}
            </td>
            <td className="number">{recorded}</td>
            <td className="number">{computed}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Verify() {
  const { data: run, error, refetch } = useVerification();
  const start = useChange({
    send: () => client.POST("/admin/v1/verify", { body: {} }),
    invalidates: ["/admin/v1/verify"],
  });
  const isBad = run !== undefined && (run.differences_count > 0 || run.state === "failed");
  return (
    <section className="panel" aria-label="Check of the ledger" style={{ marginBottom: 24 }}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Does the ledger add up?
        </Title>
        <Button
          variant="default"
          loading={start.isPending || run?.state === "running"}
          onClick={() => start.run(undefined)}
        >
          Check now
        </Button>
      </Group>
      {error !== null && <RegionError what="check" error={error} retry={refetch} />}
      <Text component="output" display="block" mih={20} c={isBad ? "var(--bad)" : ""}>
        {run !== undefined && sentenceOf(run)}
      </Text>
      {start.error !== null && <FormError error={start.error} />}
      {isBad && run.differences.length > 0 && <Differences run={run} />}
    </section>
  );
}
