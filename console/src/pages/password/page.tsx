/** Changes the reader's password: required after a one-time password, otherwise at any time. */
import { Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, type FormEvent } from "react";
import { client } from "../../api/client.ts";
import { fieldsOf } from "../../ui/form.ts";
import { FormError } from "../../ui/form-error.tsx";
import { NarrowPage } from "../../ui/narrow-page.tsx";

interface Fields {
  readonly currentPassword: string;
  readonly newPassword: string;
}

export function PasswordPage() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  useEffect(() => {
    document.title = "Choose a password - Tollgate";
  }, []);
  const change = useMutation({
    mutationFn: (body: Fields) => client.POST("/auth/change-password", { body }),
    onSuccess: async () => {
      queries.clear();
      await navigate({ to: "/" });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const field = fieldsOf(event);
    change.mutate({ currentPassword: field("current"), newPassword: field("new") });
  };
  return (
    <NarrowPage title="Choose a password">
      <Text mb="lg">At least ten characters. Your other sessions and personal tokens end.</Text>
      <form onSubmit={submit}>
        <Stack gap="md">
          <PasswordInput
            name="current"
            label="Current password"
            autoComplete="current-password"
            required
            autoFocus
          />
          <PasswordInput
            name="new"
            label="New password"
            autoComplete="new-password"
            minLength={10}
            maxLength={128}
            required
          />
          <FormError error={change.error} />
          <Button type="submit" loading={change.isPending} fullWidth>
            Change password
          </Button>
        </Stack>
      </form>
    </NarrowPage>
  );
}
