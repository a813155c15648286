// What `blockhouse token --new-token` does.
import { ApiToken, createBus, openSettings } from '../../core/index.ts';

/** Writes a new token into a workspace and returns it. */
export function writeNewToken(workspace: string): Promise<string> {
  return new ApiToken(openSettings(workspace), createBus()).renew();
}
