/** One task: outcome, parameters, cost, attempts and callbacks. */
import { Button, Group, Table, Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { readDuration } from "../../base/numbers.ts";
import { readMoment, readTime } from "../../base/time.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Part } from "../../ui/part.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useMay } from "../../ui/use-may.ts";
import { useNow } from "../../ui/use-now.ts";
import { useToday } from "../../ui/use-today.ts";
import { Attempts } from "./attempts.tsx";
import { Callbacks } from "./callbacks.tsx";
import { isUnderWay, outputsOf, toneOf } from "./filters.ts";
import { useCancel } from "./actions.ts";
import { Preview } from "./preview.tsx";
import { useTask, useTaskRenewal } from "./queries.ts";
import { Shapes } from "./shapes.tsx";
import classes from "./tasks.module.css";

const route = getRouteApi("/shell/tasks/$id");

type Whole = Schemas["TaskRecord"];

/** Its duration so far or in all, and how much of the reservation was charged. */
function TaskStateText({ task }: { task: Whole }) {
  const now = useNow();
  const end = task.finished_at === null ? now.getTime() : Date.parse(task.finished_at);
  const lasted = readDuration(Math.max(0, end - Date.parse(task.created_at)));
  return (
    <Text size="lg" component="output" display="block">
      <span className={toneOf(task)}>{task.status}</span>{" "}
      {isUnderWay(task) ? `for ${lasted}` : `after ${lasted}`}. Reserved {task.reserved} USD,
      charged {task.cost} USD.
    </Text>
  );
}

function CancelButton({ task }: { task: Whole }) {
  const cancel = useCancel(task.id);
  const mayCancel = useMay("task.cancel");
  if (!mayCancel || !isUnderWay(task)) return null;
  const ask = () =>
    confirm({
      title: "Cancel task",
      text: "A waiting task ends at once. A running task ends only if its vendor confirms. A canceled task costs nothing.",
      action: "Cancel task",
      danger: true,
      run: () => cancel.runNow({}),
    });
  return (
    <Button variant="outline" color="var(--bad)" onClick={ask}>
      Cancel task
    </Button>
  );
}

const Parameters = ({ task }: { task: Whole }) => (
  <Part title="Parameters">
    <Table aria-label="Parameters">
      <Table.Tbody>
        {Object.entries(task.parameters as Readonly<Record<string, unknown>>).map(
          ([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={220} className="mono">
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                {typeof value === "string" ? value : JSON.stringify(value)}
              </Table.Td>
            </Table.Tr>
          ),
        )}
      </Table.Tbody>
    </Table>
    <Text mt="sm" size="sm" className="muted">
      Prompts and input files are not shown.
    </Text>
  </Part>
);

function Facts({ task }: { task: Whole }) {
  const now = useToday();
  const until = task.outputs_until;
  return (
    <Group gap="lg" mt="sm" className="muted">
      <span>{task.model}</span>
      {task.provider !== null && <span>{task.provider}</span>}
      <span title={task.created_at}>{readTime(new Date(task.created_at), now)}</span>
      <Link to="/requests/$id" params={{ id: task.id }} search={({ ws }) => ({ ws })}>
        Request
      </Link>
      {isUnderWay(task) && <span>expires at {readMoment(new Date(task.expires_at), now)}</span>}
      {until !== null && <span title={until}>files kept until {until.slice(0, 10)} (UTC)</span>}
    </Group>
  );
}

function One({ task }: { task: Whole }) {
  const { error, notes = [] } = task;
  return (
    <>
      <TaskStateText task={task} />
      {error !== undefined && (
        <Text mt="xs" className="mono" role="note">
          {error.code}: {error.message}
        </Text>
      )}
      <Facts task={task} />
      {notes.map((note) => (
        <Text key={note} mt="xs">
          {note}
        </Text>
      ))}
      <div className={classes["large"]} style={{ marginTop: 16 }}>
        <Preview task={task} outputs={outputsOf(task)} />
      </div>
      <Parameters task={task} />
      <Attempts task={task} />
      <Callbacks id={task.id} isAsked={task.webhook_url !== null} />
      <Shapes id={task.id} />
    </>
  );
}

export function TaskPage() {
  const { id } = route.useParams();
  const read = useTask(id);
  useTaskRenewal(id);
  return (
    <Page
      title="Task"
      aside={
        <Group gap="sm">
          <Copy isNamed label="the id" text={() => id} />
          {read.data !== undefined && <CancelButton task={read.data} />}
        </Group>
      }
    >
      <Text className="mono" mb="md">
        {id}
      </Text>
      {read.error !== null && <RegionError what="task" error={read.error} retry={read.refetch} />}
      <Loading of={[read]} />
      {read.data !== undefined && <One task={read.data} />}
    </Page>
  );
}
