/** Limits and response cache of a new key. Loaded on demand. */
import { Stack } from "@mantine/core";
import { CacheFields } from "../../ui/cache-fields.tsx";
import { LimitsFields } from "../../ui/limits-fields.tsx";
import type { MoreFields as Fields } from "./more.ts";

export interface MoreProps {
  readonly fields: Fields;
  readonly set: (fields: Fields) => void;
  readonly at: (name: string) => string | undefined;
  /** The reader may set a response cache. */
  readonly mayCache: boolean;
}

export const MoreFields = ({ fields, set, at, mayCache }: MoreProps) => (
  <Stack gap="md">
    <LimitsFields fields={fields.limits} set={(limits) => set({ ...fields, limits })} at={at} />
    {mayCache && (
      <CacheFields fields={fields.cache} set={(cache) => set({ ...fields, cache })} at={at} />
    )}
  </Stack>
);
