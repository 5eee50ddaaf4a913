/** Signing in: with a password, or at the identity provider. */
import { Button, Divider, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, type FormEvent } from "react";
import { api, client } from "../../api/client.ts";
import { fieldsOf } from "../../ui/form.ts";
import { FormError } from "../../ui/form-error.tsx";
import { Outside } from "../../ui/outside.tsx";

const route = getRouteApi("/sign-in");

/** A failed return from the identity provider, in our own words: what stands in the address is anybody's text. */
const failedReturn = "Signing in there did not work. Ask whoever manages your account here.";

interface Fields {
  readonly email: string;
  readonly password: string;
}

function Elsewhere(props: { label: string }) {
  const elsewhere = useMutation({
    mutationFn: async () =>
      (await client.POST("/auth/sign-in/social", { body: { provider: "oidc" } })).data!,
    onSuccess: ({ url }) => location.assign(url),
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

export function SignInPage() {
  const { to, error: returned } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const queries = useQueryClient();
  const options = api.useQuery("get", "/auth/options");
  useEffect(() => {
    document.title = "Sign in - Tollgate";
  }, []);
  const signIn = useMutation({
    mutationFn: async (body: Fields) => (await client.POST("/auth/sign-in/email", { body })).data!,
    onSuccess: async ({ password_change_required: mustChange }) => {
      queries.clear();
      if (mustChange) await navigate({ to: "/password" });
      else router.history.push(to ?? "/start");
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const field = fieldsOf(event);
    signIn.mutate({ email: field("email"), password: field("password") });
  };
  const oidc = options.data?.oidc;
  const notice = signIn.error ?? (returned && new Error(failedReturn));
  return (
    <Outside title="Sign in to Tollgate">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            name="email"
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus
          />
          <PasswordInput
            name="password"
            label="Password"
            autoComplete="current-password"
            required
          />
          <FormError error={notice} />
          <Button type="submit" loading={signIn.isPending} fullWidth>
            Sign in
          </Button>
          {oidc != null && <Elsewhere label={oidc.label} />}
        </Stack>
      </form>
    </Outside>
  );
}
