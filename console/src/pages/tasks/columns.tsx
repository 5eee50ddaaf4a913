/** The columns of the list of tasks. */
import { Link } from "@tanstack/react-router";
import { readDuration } from "../../base/numbers.ts";
import { readInColumn } from "../../base/time.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Money } from "../../ui/money.tsx";
import { useToday } from "../../ui/use-today.ts";
import { toneOf, type Task } from "./filters.ts";

const nothing = <span className="muted">-</span>;

const took = ({ created_at: from, finished_at: to }: Task) =>
  to === null ? nothing : readDuration(Date.parse(to) - Date.parse(from));

function Way({ task: { id, created_at: at } }: { task: Task }) {
  const now = useToday();
  return (
    <Link to="/tasks/$id" params={{ id }} search={({ ws }) => ({ ws })} title={at}>
      {readInColumn(new Date(at), now)}
    </Link>
  );
}

export const columns: readonly Column<Task>[] = [
  {
    header: "Time",
    width: 120,
    phone: 2,
    cell: (task) => <Way task={task} />,
  },
  { header: "Kind", width: 80, wide: true, cell: ({ kind }) => kind },
  { header: "Model", phone: 1, cell: ({ model }) => model },
  { header: "Provider", width: 150, wide: true, cell: ({ provider }) => provider ?? nothing },
  {
    header: "Cost (USD)",
    width: 116,
    align: "right",
    phone: 2,
    phoneName: "USD",
    cell: ({ cost }) => <Money amount={cost} />,
  },
  { header: "Took", width: 90, align: "right", wide: true, cell: took },
  {
    header: "State",
    width: 220,
    phone: 1,
    cell: (task) => (
      <span className={toneOf(task)} title={task.error?.message}>
        {task.status}
        {task.error !== undefined && task.error.code !== task.status && ` ${task.error.code}`}
      </span>
    ),
  },
];
