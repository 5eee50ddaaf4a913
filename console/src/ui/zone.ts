/** The time zone for display: that of the URL (`tz`), else the one kept in this browser, else the reader's own. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { readIn, type Zone } from "../base/time.ts";
import { storedValue, useStoredValue } from "./stored-value.ts";

export const zones: readonly Zone[] = ["local", "utc"];

const kept = storedValue("tollgate-times");

export const zoneOf = (text: string | undefined): Zone => (text === "utc" ? "utc" : "local");

/** Sets the zone; call before a page renders. */
export const settleZone = (tz: string | undefined): void => readIn(zoneOf(tz ?? kept.read()));

/** The zone and its setter. A chosen zone is kept, and removed from the URL. */
export function useZone(): readonly [Zone, (zone: Zone) => void] {
  const { tz } = useSearch({ from: "/shell" });
  const navigate = useNavigate();
  const own = useStoredValue(kept);
  const zone = zoneOf(tz ?? own);
  const choose = (chosen: Zone) => {
    readIn(chosen);
    kept.write(chosen === "utc" ? "utc" : undefined);
    if (tz !== undefined)
      void navigate({ to: ".", search: (before) => ({ ...before, tz: undefined }) });
  };
  return [zone, choose];
}
