/** Sign-in with a password, or through the identity provider. */
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { ApiError } from "../../api/errors.ts";
import { NarrowPage } from "../../ui/narrow-page.tsx";
import { SignInForm } from "../../ui/sign-in-form.tsx";

const route = getRouteApi("/sign-in");

/** Our own message for a failed return from the identity provider: text in the URL cannot be trusted. */
const failedReturn =
  "The sign-in did not work. Try again, or ask an administrator of this gateway.";

export function SignInPage() {
  const { to, error: returned } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const queries = useQueryClient();
  useEffect(() => {
    document.title = "Sign in - Tollgate";
  }, []);
  return (
    <NarrowPage title="Sign in to Tollgate">
      <SignInForm
        notice={returned === undefined ? undefined : new ApiError(400, failedReturn)}
        onElsewhere={(address) => location.assign(address)}
        onSignedIn={({ password_change_required: mustChange }) => {
          queries.clear();
          if (mustChange) void navigate({ to: "/password" });
          else router.history.push(to ?? "/");
        }}
      />
    </NarrowPage>
  );
}
