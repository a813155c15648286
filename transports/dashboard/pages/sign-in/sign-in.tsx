// Signing in with the token; what a link with a code does by itself.
import { useState } from 'preact/hooks';
import { session } from '../../data/services.ts';
import { notice } from '../../data/sign-in-link.ts';
import { TextField } from '../../parts/fields.tsx';
import { Logo } from '../../parts/icon.tsx';
import { Button, Copy } from '../../parts/widgets.tsx';
import { signInText } from '../../text/index.ts';

const COMMAND = 'blockhouse open';

/** The form; `again` over a page whose session has ended. */
export function SignInForm({ again = false }: { readonly again?: boolean }) {
  const [token, setToken] = useState('');
  const [wrong, setWrong] = useState<string | undefined>(notice);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const given = token.trim();
    setToken('');
    setWrong(given === '' ? signInText.empty : await session.signInWith({ token: given, refused: signInText.refused }));
  };
  const Box = again ? 'div' : 'main';
  return (
    <Box class="sign-in body">
      <Logo size={26} />
      <h1>{signInText.title}</h1>
      <p class="t2">{again ? signInText.again : signInText.lead}</p>
      <div class="cmd mono">
        {COMMAND} <Copy text={COMMAND} iconOnly />
      </div>
      <p class="t2">{signInText.or}</p>
      <Form isNested={again} submit={submit}>
        <TextField label={signInText.token} wrong={wrong} value={token} set={setToken} input={{ type: 'password' }} />
        <Button label={signInText.submit} kind="primary" {...(again ? { run: submit } : { submit: true })} />
      </Form>
    </Box>
  );
}

/** A dialog is a form already. */
function Form({
  isNested,
  submit,
  children,
}: {
  readonly isNested: boolean;
  submit(event: Event): Promise<void>;
  readonly children: preact.ComponentChildren;
}) {
  if (isNested)
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: Enter in the field sends it, as in a form
      <div class="stack" onKeyDown={(event) => event.key === 'Enter' && void submit(event)}>
        {children}
      </div>
    );
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      {children}
    </form>
  );
}
