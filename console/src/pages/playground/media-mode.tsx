/** Shared by the image, video and vector modes: prompt, parameters, code, and results. */
import { Group, Stack, Textarea } from "@mantine/core";
import { useState, type ReactNode } from "react";
import type { CodeText, Place } from "../../base/sdks.ts";
import { CodePanel } from "./code-panel.tsx";
import { GenerationList } from "./generation-list.tsx";
import type { GenerationRequest } from "./generate.ts";
import type { ModeProps } from "./mode-props.ts";
import { fieldsOf, readFields, type Typed } from "./parameters.ts";
import { ParametersForm } from "./parameters-form.tsx";
import { useParts } from "./parts.tsx";
import type { Callable } from "./queries.ts";
import { onCtrlEnter, RunButton } from "./run-button.tsx";
import { useGenerations } from "./use-generations.ts";

/** The reader's request. */
export interface Wish {
  readonly model: Callable;
  readonly prompt: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface MediaModeProps extends ModeProps {
  readonly promptLabel: string;
  /** Further input fields. */
  readonly inputs?: ReactNode;
  /** A hint for a missing input. */
  readonly missing?: string | undefined;
  readonly prepare: (wish: Wish) => GenerationRequest | Promise<GenerationRequest>;
  readonly codes: (wish: Wish, place: Place) => readonly CodeText[];
}

export function MediaMode(props: MediaModeProps) {
  const { apiKey, models, chosen, picker, ended, promptLabel, inputs, missing } = props;
  const [prompt, setPrompt] = useState("");
  const [typed, setTyped] = useState<Typed>({});
  const { open, toggle } = useParts<"parameters" | "code">();
  const generations = useGenerations(ended);
  const model = models.find(({ id }) => id === chosen[0])!;
  const fields = fieldsOf([model.supported_parameters]);
  const { body, faults } = readFields(fields, typed);
  const [fault] = Object.keys(faults);
  const wish: Wish = { model, prompt, fields: body };
  const running = {
    running: generations.running,
    obstacle:
      (fault !== undefined ? `Fix ${fault} first.` : missing) ??
      (prompt.trim() === "" ? "Write a text." : undefined),
    run: () =>
      void generations.run({ keyId: apiKey.id, model: model.id, label: prompt }, () =>
        props.prepare(wish),
      ),
    stop: generations.stop,
  };
  return (
    <Stack gap="md">
      <Group align="end" gap="md">
        {picker}
        {toggle("parameters", "Parameters")}
        {toggle("code", "Code")}
      </Group>
      {open === "parameters" && <ParametersForm {...{ fields, typed, faults }} change={setTyped} />}
      {open === "code" && <CodePanel apiKey={apiKey} codes={(place) => props.codes(wish, place)} />}
      <div className="panel">
        <Textarea
          label={promptLabel}
          value={prompt}
          autosize
          minRows={3}
          maxRows={12}
          mb="sm"
          onKeyDown={onCtrlEnter(running)}
          onChange={({ currentTarget }) => setPrompt(currentTarget.value)}
        />
        {inputs}
        <Group mt="sm" justify="flex-end">
          <RunButton {...running} />
        </Group>
      </div>
      <GenerationList list={generations.list} ended={ended} />
    </Stack>
  );
}
