/**
 * Shows progress: a line below the header after a moment, text for screen readers, and a message if the gateway is silent for long.
 * Otherwise a slow network looks like a page that ignored the click.
 */
import { Text, VisuallyHidden } from "@mantine/core";
import { useIsFetching, useIsMutating } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";
import { isSignInNeeded, watchSignIn } from "../api/reauth.ts";
import classes from "./busy.module.css";

/** Faster responses need no line, in ms. */
const soonMs = 400;
const longMs = 10_000;

/** The largest of these times that has passed since `isOn` last became true; 0 before the first. */
function usePassed(isOn: boolean, times: readonly number[]): number {
  const [passed, setPassed] = useState(0);
  if (!isOn && passed !== 0) setPassed(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timers = times.map((ms) => setTimeout(() => setPassed(ms), ms));
    return () => timers.forEach((one) => clearTimeout(one));
  }, [isOn, times]);
  return isOn ? passed : 0;
}

const times = [soonMs, longMs] as const;

export function Busy() {
  // Silent for data that is shown already and read again.
  const reads = useIsFetching({ predicate: ({ state }) => state.data === undefined });
  const changes = useIsMutating();
  const isLeaving = useRouterState({ select: ({ status }) => status === "pending" });
  // Calls that wait for a new session wait for the reader, not for the gateway.
  const mustSignIn = useSyncExternalStore(watchSignIn, isSignInNeeded);
  const passed = usePassed(!mustSignIn && (reads + changes > 0 || isLeaving), times);
  const isLong = passed >= longMs;
  return (
    <>
      {passed > 0 && <div className={classes["line"]} aria-hidden />}
      <output aria-label="Progress" className="cut">
        {passed > 0 && !isLong && <VisuallyHidden>Loading</VisuallyHidden>}
        {isLong && (
          <Text component="span" size="sm" c="var(--warn)">
            Still waiting for the gateway
          </Text>
        )}
      </output>
    </>
  );
}
