/**
 * Says that something is on its way: a line below the head after a moment, words to those who listen, and once the gateway has been
 * silent for long, how long. Without it a slow network looks like a page that did not hear the press.
 */
import { Text, VisuallyHidden } from "@mantine/core";
import { useIsFetching, useIsMutating } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";
import { isSignInNeeded, watchSignIn } from "../api/again.ts";
import classes from "./busy.module.css";

/** What comes sooner needs no line. */
const soonMs = 400;
const longMs = 10_000;

/** The longest of these that have passed since `isOn` last became true; 0 while none has. */
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
  // What is shown already is read again without a word.
  const reads = useIsFetching({ predicate: ({ state }) => state.data === undefined });
  const changes = useIsMutating();
  const isLeaving = useRouterState({ select: ({ status }) => status === "pending" });
  // Calls that wait for a new session wait for the reader.
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
