/** A key's routing settings, with a preview for the form's values. */
import { SimpleGrid, Stack, Switch } from "@mantine/core";
import type { FormEvent } from "react";
import { routingOf, type Routing } from "../../base/routing.ts";
import { changedFields, useDraft } from "../../ui/draft.ts";
import { RoutingFields } from "../../ui/routing-fields.tsx";
import { SaveBar } from "../../ui/save-bar.tsx";
import { usePatch, type Patch } from "./change.ts";
import { Preview } from "./preview.tsx";
import type { Key } from "./queries.ts";
import { useMay } from "./rights.ts";

const fieldsOf = (key: Key) => ({
  routing: key.routing as Routing,
  allow_request_override: key.allow_request_override,
});
type Fields = ReturnType<typeof fieldsOf>;

const patchOf = ({ routing, ...others }: Partial<Fields>): Patch => ({
  ...others,
  ...(routing !== undefined && { routing: routingOf(routing) }),
});

export function RoutingTab({ apiKey }: { apiKey: Key }) {
  const draft = useDraft(apiKey, fieldsOf);
  const may = useMay(apiKey);
  const disabled = !may("key.change") || apiKey.status === "revoked";
  const change = usePatch(draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run(patchOf(changedFields(fieldsOf(draft.base), draft.fields)));
  };
  const { routing, allow_request_override: isOverridable } = draft.fields;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <form onSubmit={submit}>
        <Stack gap="md">
          <RoutingFields
            value={routing}
            set={(value) => draft.set({ routing: value })}
            at={change.at}
            disabled={disabled}
          />
          <Switch
            label="Requests may choose another order"
            description="With a suffix of the model, such as :@price."
            checked={isOverridable}
            disabled={disabled || routing.mode === "follow"}
            onChange={({ currentTarget: { checked } }) =>
              draft.set({ allow_request_override: checked })
            }
          />
          {!disabled && <SaveBar draft={draft} change={change} shown={["routing"]} />}
        </Stack>
      </form>
      <Preview
        apiKey={apiKey}
        settings={{ routing: routingOf(routing), allow_request_override: isOverridable }}
      />
    </SimpleGrid>
  );
}
