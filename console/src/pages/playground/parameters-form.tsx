/** The form of the chosen models' parameters; empty fields are not sent. */
import { Fieldset, Select, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import { hintOf, type Domain, type Typed } from "./parameters.ts";

interface FieldProps {
  readonly name: string;
  readonly domain: Domain;
  readonly text: string;
  readonly fault: string | undefined;
  readonly change: (text: string) => void;
}

function Field({ name, domain, text, fault, change }: FieldProps) {
  const values = domain.type === "boolean" ? ["true", "false"] : domain.values?.map(String);
  const common = { label: name, description: hintOf(domain) || "\u00A0", error: fault };
  // With a pattern, other values may also be typed.
  if (values !== undefined && domain.pattern === undefined)
    return (
      <Select
        {...common}
        data={values}
        value={text === "" ? null : text}
        placeholder="not sent"
        clearable
        clearButtonProps={{ "aria-label": `Clear ${name}` }}
        onChange={(value) => change(value ?? "")}
      />
    );
  const onChange = ({ currentTarget }: { currentTarget: { value: string } }) =>
    change(currentTarget.value);
  return domain.type === "object" || domain.type === "array" ? (
    <Textarea {...common} value={text} onChange={onChange} autosize minRows={1} maxRows={6} />
  ) : (
    <TextInput
      {...common}
      value={text}
      placeholder={values?.join(", ") ?? ""}
      inputMode={domain.type === "string" || values !== undefined ? "text" : "decimal"}
      onChange={onChange}
    />
  );
}

interface FormProps {
  readonly fields: readonly [string, Domain][];
  readonly typed: Typed;
  readonly faults: Typed;
  readonly change: (typed: Typed) => void;
}

export const ParametersForm = ({ fields, typed, faults, change }: FormProps) => (
  <Fieldset legend="Parameters">
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      {fields.map(([name, domain]) => (
        <Field
          key={name}
          name={name}
          domain={domain}
          text={typed[name] ?? ""}
          fault={faults[name]}
          change={(text) => change({ ...typed, [name]: text })}
        />
      ))}
    </SimpleGrid>
  </Fieldset>
);
