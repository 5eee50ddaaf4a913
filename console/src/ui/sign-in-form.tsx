/** The sign-in form: password, or a link to the identity provider. */
import { Button, Divider, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { api, client } from "../api/client.ts";
import type { ApiError } from "../api/errors.ts";
import { fieldsOf } from "./form.ts";
import { FormError } from "./form-error.tsx";

interface Fields {
  readonly email: string;
  readonly password: string;
}

interface SignInFormProps {
  /** The fixed e-mail address; the reader types one if absent. */
  readonly email?: string | undefined;
  /** Shown unless a newer error replaces it. */
  readonly notice?: ApiError | undefined;
  readonly onSignedIn: (answer: { readonly password_change_required: boolean }) => void;
  /** Opens the identity provider's URL. */
  readonly onElsewhere: (address: string) => void;
}

function Elsewhere(props: { label: string; go: (address: string) => void }) {
  const elsewhere = useMutation({
    mutationFn: async () =>
      (await client.POST("/auth/sign-in/social", { body: { provider: "oidc" } })).data!,
    onSuccess: ({ url }) => props.go(url),
  });
  return (
    <>
      <Divider label="or" />
      <Button variant="default" onClick={() => elsewhere.mutate()} fullWidth>
        Continue with {props.label}
      </Button>
      <FormError error={elsewhere.error} />
    </>
  );
}

export function SignInForm({ email, notice, onSignedIn, onElsewhere }: SignInFormProps) {
  const options = api.useQuery("get", "/auth/options");
  const signIn = useMutation({
    mutationFn: async (body: Fields) => (await client.POST("/auth/sign-in/email", { body })).data!,
    onSuccess: onSignedIn,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const field = fieldsOf(event);
    signIn.mutate({ email: field("email"), password: field("password") });
  };
  const oidc = options.data?.oidc;
  const isFixed = email !== undefined;
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          name="email"
          label="E-mail"
          type="email"
          autoComplete="username"
          defaultValue={email}
          readOnly={isFixed}
          required
          data-autofocus={isFixed ? undefined : true}
          autoFocus={!isFixed}
        />
        <PasswordInput
          name="password"
          label="Password"
          autoComplete="current-password"
          required
          data-autofocus={isFixed ? true : undefined}
        />
        <FormError error={signIn.error ?? notice} />
        <Button type="submit" loading={signIn.isPending} fullWidth>
          Sign in
        </Button>
        {oidc != null && <Elsewhere label={oidc.label} go={onElsewhere} />}
      </Stack>
    </form>
  );
}
