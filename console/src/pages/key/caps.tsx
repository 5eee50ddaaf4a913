/** A key's name, caps and limits, and how much of each cap is used. */
import { NumberInput, SimpleGrid, Stack, TextInput, Title } from "@mantine/core";
import type { FormEvent } from "react";
import { capFieldsOf, capsOf } from "../../base/caps.ts";
import { CapsFields } from "../../ui/caps-fields.tsx";
import { changedFields, useDraft } from "../../ui/draft.ts";
import { SaveBar } from "../../ui/save-bar.tsx";
import { SpendBars } from "../../ui/spend-bars.tsx";
import { usePatch, type Patch } from "./change.ts";
import type { Key } from "./queries.ts";
import { useMay } from "./rights.ts";

const perMinute = (limits: Key["rate_limits"], name: "requests_per_minute" | "tokens_per_minute") =>
  limits?.[name] ?? "";

const fieldsOf = (key: Key) => ({
  name: key.name,
  caps: capFieldsOf(key.spend_caps),
  requests: perMinute(key.rate_limits, "requests_per_minute"),
  tokens: perMinute(key.rate_limits, "tokens_per_minute"),
  expires: key.expires_at ?? "",
});
type Fields = ReturnType<typeof fieldsOf>;

const countOf = (value: string | number): number | null => (value === "" ? null : Number(value));

/** What the API is sent of the changed fields. */
function patchOf(all: Fields, changed: Partial<Fields>): Patch {
  const { name, caps, requests, tokens, expires } = changed;
  const limits = {
    requests_per_minute: countOf(all.requests),
    tokens_per_minute: countOf(all.tokens),
  };
  return {
    ...(name !== undefined && { name }),
    ...(caps !== undefined && { spend_caps: capsOf(caps) }),
    ...((requests ?? tokens) !== undefined && { rate_limits: limits }),
    ...(expires !== undefined && { expires_at: expires.trim() === "" ? null : expires.trim() }),
  };
}
const shownFields = ["name", "spend_caps", "rate_limits", "expires_at"];

interface LimitsProps {
  readonly fields: Fields;
  readonly set: (change: Partial<Fields>) => void;
  readonly at: (name: string) => string | undefined;
  readonly disabled: boolean;
}

function Limits({ fields, set, at, disabled }: LimitsProps) {
  const count = { min: 1, allowDecimal: false, placeholder: "no limit", disabled };
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <NumberInput
        {...count}
        label="Requests a minute"
        value={fields.requests}
        error={at("rate_limits.requests_per_minute")}
        onChange={(requests) => set({ requests })}
      />
      <NumberInput
        {...count}
        label="Tokens a minute"
        value={fields.tokens}
        error={at("rate_limits.tokens_per_minute")}
        onChange={(tokens) => set({ tokens })}
      />
      <TextInput
        label="Ends (UTC)"
        placeholder="never, or 2027-01-31T00:00:00Z"
        value={fields.expires}
        disabled={disabled}
        error={at("expires_at")}
        onChange={({ currentTarget }) => set({ expires: currentTarget.value })}
      />
    </SimpleGrid>
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
    change.run(patchOf(draft.fields, changedFields(fieldsOf(draft.base), draft.fields)));
  };
  return (
    <Stack gap="xl" maw={720}>
      <Stack gap="md">
        <SpendBars of={apiKey} />
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
              mayLoosen ? undefined : "You may lower a cap. Raising one takes a workspace admin."
            }
          />
          <Limits fields={draft.fields} set={draft.set} at={change.at} disabled={disabled} />
          {!disabled && (
            <SaveBar
              isChanged={draft.isChanged}
              isPending={change.isPending}
              error={change.beside(...shownFields)}
              discard={draft.discard}
            />
          )}
        </Stack>
      </form>
    </Stack>
  );
}
