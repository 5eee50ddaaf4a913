/** The bar of a live list: the number of new rows that wait above it. */
import { Button } from "@mantine/core";
import { hashKey } from "@tanstack/react-query";
import type { Listed } from "../base/merge.ts";
import { readCount } from "../base/numbers.ts";
import classes from "./live-bar.module.css";
import { useLiveList, type LiveListOptions } from "./live-list.ts";

/** Floats, so that nothing moves. */
function Bar<Row extends Listed>(options: LiveListOptions<Row>) {
  const { count, show } = useLiveList(options);
  return (
    <div className={classes["bar"]} aria-live="polite">
      {count > 0 && (
        <Button size="xs" onClick={show}>
          {readCount(count)} new
        </Button>
      )}
    </div>
  );
}

/** The key resets all state for another list, so that rows of one list never enter another. */
export const LiveBar = <Row extends Listed>(options: LiveListOptions<Row>) => (
  <Bar key={hashKey(options.queryKey)} {...options} />
);
