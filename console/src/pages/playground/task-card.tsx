/** A task, followed until it ends; then its output and cost. */
import { Group, Loader, Text } from "@mantine/core";
import { useEffect } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { Money } from "../../ui/money.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useRenewal } from "../../ui/use-renewal.ts";
import { Cost } from "./cost.tsx";
import classes from "./playground.module.css";

type Task = Schemas["TaskRecord"];

const isOpen = ({ status }: Task): boolean => status === "queued" || status === "running";

/** The path on this origin. The content security policy allows no other, and the gateway serves its files on each of its addresses. */
const ownPath = (url: string): string => {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
};

function Outputs({ task: { output, model } }: { task: Task }) {
  return (
    <>
      {output.images.map(({ index, url }) => (
        <img
          key={url}
          src={ownPath(url)}
          alt={`Made by ${model}, ${index + 1}`}
          className={classes["picture"]}
        />
      ))}
      {output.videos?.map(({ index, url }) => (
        <video
          key={url}
          src={ownPath(url)}
          aria-label={`Video ${index + 1} of ${model}`}
          className={classes["picture"]}
          controls
          muted
          preload="metadata"
        />
      ))}
    </>
  );
}

export function TaskCard({ id, ended }: { id: string; ended: (id: string) => void }) {
  const init = { params: { path: { id } } };
  const read = api.useQuery("get", "/admin/v1/tasks/{id}", init, { staleTime: 0 });
  const { data: task, error } = read;
  useRenewal({
    topics: ["tasks"],
    filter: { task_id: id },
    enabled: task === undefined || isOpen(task),
    isAbout: (row) => row.id === id,
    reads: [api.queryOptions("get", "/admin/v1/tasks/{id}", init).queryKey],
  });
  const isOver = task !== undefined && !isOpen(task);
  useEffect(() => {
    if (isOver) ended(id);
    // oxlint-disable-next-line react/exhaustive-deps -- once, when it has ended
  }, [isOver, id]);
  if (task === undefined)
    return error === null ? <Loader size="sm" /> : <RegionError what="task" error={error} />;
  return (
    <>
      <Group gap="sm">
        {!isOver && <Loader size="xs" />}
        <output>{task.status}</output>
        {!isOver && (
          <Text size="sm" className="muted">
            reserved <Money amount={task.reserved} unit />
          </Text>
        )}
        <span className="mono muted">{id}</span>
      </Group>
      {task.error !== undefined && (
        <Text size="sm" role="alert" className="bad" style={{ overflowWrap: "anywhere" }}>
          {task.error.code}: {task.error.message}
        </Text>
      )}
      <Outputs task={task} />
      {isOver && <Cost id={id} />}
    </>
  );
}
