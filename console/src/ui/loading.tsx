/** Takes the place of what is read, so that a page on a slow network does not look empty. */
import { Skeleton } from "@mantine/core";

interface Read {
  readonly data?: unknown;
  /** Instead of `data`, of a list that is read as a whole. */
  readonly rows?: unknown;
  readonly error: unknown;
}

/** A placeholder while one of these reads has no answer yet; none after an error, which is shown instead. */
export function Loading({ of }: { of: readonly Read[] }) {
  if (of.some(({ error }) => error !== null)) return null;
  const isLoading = of.some(({ data, rows }) => data === undefined && rows === undefined);
  return isLoading && <Skeleton height={320} />;
}
