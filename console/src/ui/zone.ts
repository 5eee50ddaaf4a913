/** In which zone times are read: that of the address (`tz`), else what this browser keeps, else the reader's own. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { readIn, type Zone } from "../base/time.ts";
import { keptAs, useKept } from "./kept.ts";

export const zones: readonly Zone[] = ["local", "utc"];

const kept = keptAs("tollgate-times");

export const zoneOf = (text: string | undefined): Zone => (text === "utc" ? "utc" : "local");

/** Before a page is shown. */
export const settleZone = (tz: string | undefined): void => readIn(zoneOf(tz ?? kept.read()));

/** The zone, and how to choose another one: what is chosen is kept, and the address no longer says one. */
export function useZone(): readonly [Zone, (zone: Zone) => void] {
  const { tz } = useSearch({ from: "/shell" });
  const navigate = useNavigate();
  const own = useKept(kept);
  const zone = zoneOf(tz ?? own);
  const choose = (chosen: Zone) => {
    readIn(chosen);
    kept.write(chosen === "utc" ? "utc" : undefined);
    if (tz !== undefined)
      void navigate({ to: ".", search: (before) => ({ ...before, tz: undefined }) });
  };
  return [zone, choose];
}
