/** How many new rows wait above a list that grows by itself. */
import { Button } from "@mantine/core";
import { readCount } from "../base/numbers.ts";
import classes from "./live-bar.module.css";
import type { Live } from "./live-list.ts";

/** It floats, so that nothing moves. */
export const LiveBar = ({ count, show }: Live) => (
  <div className={classes["bar"]} aria-live="polite">
    {count > 0 && (
      <Button size="xs" onClick={show}>
        {readCount(count)} new
      </Button>
    )}
  </div>
);
