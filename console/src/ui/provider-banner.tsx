/** "1 provider out" in the header of every page, for readers who may act on it. */
import { Link } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { providerStates, watchStream, type ProviderState } from "../api/events.ts";
import { useEvents } from "./use-events.ts";
import { useMay } from "./use-may.ts";

/** A pause is intended; an automatic exclusion is not. */
const isOut = ({ paused_until: paused, health }: ProviderState): boolean =>
  paused === null && health !== null && health.state !== "ready";

/** The providers that are out, from the event stream. The providers list has far more data, and is not read. */
function useOut(): readonly ProviderState[] {
  const enabled = useMay("provider.pause");
  // Another follower of providers may have opened the stream before the rights were known.
  const states = useSyncExternalStore(watchStream, providerStates);
  useEvents({ topics: ["providers"], enabled, on: () => undefined });
  return enabled ? states.filter(isOut) : [];
}

export function ProviderBanner() {
  const out = useOut();
  const [first] = out;
  const text = out.length === 1 ? "1 provider out" : `${out.length} providers out`;
  return (
    <output>
      {first !== undefined &&
        (out.length === 1 ? (
          <Link
            className="bad"
            to="/providers/$id"
            params={{ id: first.id }}
            search={({ ws }) => ({ ws })}
          >
            {text}
          </Link>
        ) : (
          <Link className="bad" to="/providers" search={({ ws }) => ({ ws })}>
            {text}
          </Link>
        ))}
    </output>
  );
}
