/** Reads messages-style cache markers, which routers also accept on chat parts, into the canonical form. CONV-217; T33. */
import { isObject, type WireObject } from "../base/json.ts";
import type {
  CacheBreakpoint,
  CanonicalRequest,
  NativeField,
  Part,
  Tool,
} from "./canonical/request.ts";
import { keepUnknown } from "./native.ts";

const isLifetime = (ttl: unknown): ttl is "5m" | "1h" => ttl === "5m" || ttl === "1h";

/** Returns the marker of a part; undefined unless it has an `ephemeral` one, the only kind. */
export function markerOf({ cache_control: wire }: WireObject): CacheBreakpoint | undefined {
  if (!isObject(wire) || wire["type"] !== "ephemeral") return undefined;
  return isLifetime(wire["ttl"]) ? { ttl: wire["ttl"] } : {};
}

const markerKeys = new Set(["type", "ttl"]);
const kindOnly = new Set(["type"]);

/** Notes everything that `markerOf` does not read: other kinds of marker, other lifetimes, unknown members. */
export function keepMarker(
  { cache_control: wire }: WireObject,
  place: string,
  native: NativeField[],
): void {
  if (wire === undefined || wire === null) return;
  const param = `${place}.cache_control`;
  if (!isObject(wire) || wire["type"] !== "ephemeral") native.push({ param, value: wire });
  else keepUnknown(wire, isLifetime(wire["ttl"]) ? markerKeys : kindOnly, param, native);
}

/** Counts the markers of a request, also those within results. */
export function countMarkers({ tools = [], messages }: CanonicalRequest): number {
  const count = (items: readonly (Part | Tool)[]): number =>
    items.reduce(
      (sum, item) =>
        sum +
        ("cache" in item && item.cache !== undefined ? 1 : 0) +
        ("type" in item && item.type === "tool_result" ? count(item.content) : 0),
      0,
    );
  return count(tools) + messages.reduce((sum, { content }) => sum + count(content), 0);
}
