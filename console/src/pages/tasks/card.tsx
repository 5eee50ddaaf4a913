/** One task in the gallery. */
import { Link } from "@tanstack/react-router";
import { readMoment } from "../../base/time.ts";
import { Money } from "../../ui/money.tsx";
import { outputsOf, toneOf, type Task } from "./filters.ts";
import { Preview } from "./preview.tsx";
import classes from "./tasks.module.css";

export function Card({ task, now }: { task: Task; now: Date }) {
  const { id, model, status, created_at: at } = task;
  return (
    <article className={classes["card"]} aria-label={`${status}, ${model}`}>
      <Preview task={task} outputs={outputsOf(task).slice(0, 1)} isSmall />
      <div className={classes["said"]}>
        <div className="cut">
          <Link to="/tasks/$id" params={{ id }} search={({ ws }) => ({ ws })} data-task>
            {model}
          </Link>
        </div>
        <div className="cut">
          <span className={toneOf(task)}>{status}</span>{" "}
          <span className="muted">
            <Money amount={task.cost} unit />,{" "}
            <time dateTime={at} title={at}>
              {readMoment(new Date(at), now)}
            </time>
          </span>
        </div>
      </div>
    </article>
  );
}
