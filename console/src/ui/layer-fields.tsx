/** The form fields that organizations and workspaces share: name, allowlist, routing. */
import { Stack, TextInput } from "@mantine/core";
import type { Routing } from "../base/routing.ts";
import { ModelPicker } from "./model-picker.tsx";
import { RoutingFields } from "./routing-fields.tsx";

export interface Layer {
  readonly name: string;
  readonly model_allowlist: readonly string[];
  readonly routing: Routing;
}

interface LayerFieldsProps {
  readonly fields: Layer;
  readonly set: (change: Partial<Layer>) => void;
  readonly at: (name: string) => string | undefined;
  readonly outOfScope: readonly string[];
}

export function LayerFields({ fields, set, at, outOfScope }: LayerFieldsProps) {
  return (
    <Stack gap="md">
      <TextInput
        label="Name"
        required
        value={fields.name}
        error={at("name")}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
      />
      <ModelPicker
        value={fields.model_allowlist}
        set={(models) => set({ model_allowlist: models })}
        outOfScope={outOfScope}
        error={at("model_allowlist")}
      />
      <RoutingFields value={fields.routing} set={(routing) => set({ routing })} at={at} />
    </Stack>
  );
}
