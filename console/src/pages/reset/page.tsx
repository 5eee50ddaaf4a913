/** Sets a new password through a link that an admin made. */
import { Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { api, client } from "../../api/client.ts";
import { fieldsOf } from "../../ui/form.ts";
import { FormError } from "../../ui/form-error.tsx";
import { LinkPage, useToken } from "../../ui/link-page.tsx";

function Form({ token, email }: { token: string; email: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const choose = useMutation({
    mutationFn: (password: string) =>
      client.POST("/auth/password-resets/use", { body: { token, password } }),
    onSuccess: async () => {
      queries.clear();
      await navigate({ to: "/", replace: true });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => choose.mutate(fieldsOf(event)("password"));
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {/* Password managers store the new password under this name. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          name="password"
          label="New password"
          description="At least ten characters."
          autoComplete="new-password"
          minLength={10}
          maxLength={128}
          required
          autoFocus
        />
        <FormError error={choose.error} />
        <Button type="submit" loading={choose.isPending} fullWidth>
          Choose password
        </Button>
      </Stack>
    </form>
  );
}

const gone =
  "This link is not valid. It was used or replaced, or it has expired. Ask an admin for a new one.";

export function ResetPage() {
  const token = useToken();
  const read = api.useQuery(
    "post",
    "/auth/password-resets/read",
    { body: { token } },
    { enabled: token !== "" },
  );
  const { data: reset } = read;
  return (
    <LinkPage title="Choose a password" gone={gone} read={read}>
      {reset !== undefined && (
        <>
          <Text mb="lg">
            For <strong>{reset.email}</strong>. A new password signs the account out everywhere else
            and ends its personal tokens.
          </Text>
          <Form key={token} token={token} email={reset.email} />
        </>
      )}
    </LinkPage>
  );
}
