/** Adds a provider of a known vendor: only a key is needed. */
import { Button, PasswordInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { FormError } from "../../ui/form-error.tsx";
import { fieldsOf } from "../../ui/form.ts";
import { useAdd } from "./mutations.ts";

const Fields = (props: { vendor: string | null; address: string | undefined }) => (
  <>
    <PasswordInput
      name="api_key"
      label="Key"
      description="Stored encrypted; never shown again."
      required
      autoComplete="off"
    />
    <TextInput
      name="provider"
      label="Name"
      description="Callers pin the provider by it. Empty: the vendor's name."
      placeholder={props.vendor ?? ""}
      maxLength={64}
      autoComplete="off"
    />
    <TextInput
      name="base_url"
      label="Address"
      description="Empty: the vendor's own address."
      placeholder={props.address ?? ""}
      autoComplete="off"
    />
  </>
);

export function AddVendor() {
  const vendors = api.useQuery("get", "/admin/v1/vendors");
  const [vendor, setVendor] = useState<string | null>(null);
  const add = useAdd();
  const known = (vendors.data?.data ?? []).filter(({ local }) => !local);
  const chosen = known.find(({ id }) => id === vendor);
  return (
    <form
      onSubmit={(event) => {
        const field = fieldsOf(event);
        const id = field("provider");
        const address = field("base_url");
        add.run({
          vendor: vendor!,
          api_key: field("api_key"),
          ...(id !== "" && { id }),
          ...(address !== "" && { base_url: address }),
        });
      }}
    >
      <Stack gap="md">
        <Select
          label="Vendor"
          data-autofocus
          openOnFocus={false}
          required
          searchable
          limit={100}
          data={known.map(({ id, name }) => ({ value: id, label: name }))}
          value={vendor}
          onChange={setVendor}
        />
        <Fields vendor={vendor} address={chosen?.base_url} />
        {chosen !== undefined && (
          <Text size="sm" className="muted">
            {chosen.models} models with list prices are added{" "}
            {chosen.unpriced.length > 0 && `; ${chosen.unpriced.length} without a price are not`}.
          </Text>
        )}
        <FormError error={add.error ?? vendors.error} />
        <Button type="submit" loading={add.isPending} disabled={vendor === null}>
          Add provider
        </Button>
      </Stack>
    </form>
  );
}
