/** A key's name, caps, limits and response cache, and the used share of each cap. */
import { Stack, TextInput, Title } from "@mantine/core";
import type { FormEvent } from "react";
import { cacheFieldsOf, cacheOf } from "../../base/cache.ts";
import { capFieldsOf, capsOf } from "../../base/caps.ts";
import { limitFieldsOf, limitsOf } from "../../base/limits.ts";
import { CacheFields } from "../../ui/cache-fields.tsx";
import { CapsFields } from "../../ui/caps-fields.tsx";
import { changedFields, useDraft } from "../../ui/draft.ts";
import { LimitsFields } from "../../ui/limits-fields.tsx";
import { SaveBar } from "../../ui/save-bar.tsx";
import { SpendBars } from "../../ui/spend-bars.tsx";
import { useThresholds } from "../../ui/use-thresholds.ts";
import { usePatch, type Patch } from "./change.ts";
import type { Key } from "./queries.ts";
import { useMay } from "./rights.ts";

const fieldsOf = (key: Key) => ({
  name: key.name,
  caps: capFieldsOf(key.spend_caps),
  limits: limitFieldsOf(key.rate_limits),
  cache: cacheFieldsOf(key.response_cache),
  expires: key.expires_at ?? "",
});
type Fields = ReturnType<typeof fieldsOf>;

/** The API patch of the changed fields: an admin's caps and limits bind the owner, so only those that the admin changed are sent. */
function patchOf(before: Fields, after: Fields): Patch {
  const { name, caps, limits, cache, expires } = changedFields(before, after);
  return {
    ...(name !== undefined && { name }),
    ...(caps !== undefined && { spend_caps: capsOf(changedFields(before.caps, caps)) }),
    ...(limits !== undefined && { rate_limits: limitsOf(changedFields(before.limits, limits)) }),
    ...(cache !== undefined && { response_cache: cacheOf(cache) }),
    ...(expires !== undefined && { expires_at: expires.trim() === "" ? null : expires.trim() }),
  };
}
const shownFields = ["name", "spend_caps", "rate_limits", "response_cache", "expires_at"];

interface LimitsProps {
  readonly fields: Fields;
  readonly set: (change: Partial<Fields>) => void;
  readonly at: (name: string) => string | undefined;
  readonly disabled: boolean;
}

function Limits({ fields, set, at, disabled }: LimitsProps) {
  return (
    <LimitsFields
      fields={fields.limits}
      set={(limits) => set({ limits })}
      at={at}
      disabled={disabled}
    >
      <TextInput
        label="Expires (UTC)"
        placeholder="never, or 2027-01-31T00:00:00Z"
        value={fields.expires}
        disabled={disabled}
        error={at("expires_at")}
        onChange={({ currentTarget }) => set({ expires: currentTarget.value })}
      />
    </LimitsFields>
  );
}

export function Caps({ apiKey }: { apiKey: Key }) {
  const draft = useDraft(apiKey, fieldsOf);
  const change = usePatch(draft);
  const may = useMay(apiKey);
  const disabled = !may("key.change") || apiKey.status === "revoked";
  const mayLoosen = may("key.loosen_spend_caps");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run(patchOf(fieldsOf(draft.base), draft.fields));
  };
  return (
    <Stack gap="xl" maw={720}>
      <Stack gap="md">
        <SpendBars of={apiKey} thresholds={useThresholds(apiKey.workspace_id)} />
      </Stack>
      <form onSubmit={submit}>
        <Stack gap="md">
          <Title order={2} size="h4">
            Change
          </Title>
          <TextInput
            label="Name"
            value={draft.fields.name}
            disabled={disabled}
            error={change.at("name")}
            onChange={({ currentTarget }) => draft.set({ name: currentTarget.value })}
          />
          <CapsFields
            fields={draft.fields.caps}
            set={(caps) => draft.set({ caps })}
            at={change.at}
            disabled={disabled}
            description={
              mayLoosen ? undefined : "You can lower a cap. Only a workspace admin can raise one."
            }
          />
          <Limits fields={draft.fields} set={draft.set} at={change.at} disabled={disabled} />
          <CacheFields
            fields={draft.fields.cache}
            set={(cache) => draft.set({ cache })}
            at={change.at}
            disabled={disabled}
            isOnlyOff={!may("key.loosen_limits")}
          />
          {!disabled && <SaveBar draft={draft} change={change} shown={shownFields} />}
        </Stack>
      </form>
    </Stack>
  );
}
