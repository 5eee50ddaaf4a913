/** Reads JSON of unknown shape: missing values are undefined, and nothing throws. Pure. */

/** The value at this path. */
export function at(value: unknown, ...steps: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of steps) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

export const textAt = (value: unknown, ...steps: readonly (string | number)[]): string => {
  const found = at(value, ...steps);
  return typeof found === "string" ? found : "";
};

export const listAt = (value: unknown, ...steps: readonly (string | number)[]): unknown[] => {
  const found = at(value, ...steps);
  return Array.isArray(found) ? found : [];
};

/** Sets a value at a dotted path of a body. */
export function put(body: Record<string, unknown>, path: string, value: unknown): void {
  const steps = path.split(".");
  const last = steps.pop()!;
  let inside = body;
  for (const step of steps) {
    inside[step] = { ...(inside[step] as object | undefined) };
    inside = inside[step] as Record<string, unknown>;
  }
  inside[last] = value;
}
