import * as z from 'zod'
import { Timestamp } from '../../lib/codecs.ts'
import { EdgeKeyHash } from '../../lib/frame/edge.ts'
import { keyIdOf } from '../../lib/signing/keys.ts'
import { type Commands, columns, command, optionHelp } from '../command.ts'
import { addEdgeKey, addSigningKey, removeEdgeKey, removeSigningKey, useSigningKey } from '../operations/keys.ts'

const signingKey = z.string().register(optionHelp, { value: 'id', meaning: 'The key, as in list-signing-keys' })

/** Commands for the keys that sign responses, and the keys by which functions recognize the edge. */
export const KEY_COMMANDS: Commands = {
  'add-signing-key': command(
    'Makes a key that signs answers: at once where there is none, else when use-signing-key says so.',
    z.object({}),
    async (admin) => {
      const { keyId, x, signs } = await addSigningKey(admin)
      return [
        JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x, kid: keyId }),
        '',
        signs
          ? `Key ${keyId} signs answers within five minutes.`
          : `Key ${keyId} is published. Next: give it to those who pin keys, and then use-signing-key.`,
      ]
    },
  ),

  'list-signing-keys': command('Lists the keys that sign answers.', z.object({}), async ({ signingKeys }) =>
    columns(
      ['KEY', 'CREATED', 'STATUS'],
      (await signingKeys.read()).map((key, index) => [
        keyIdOf(key),
        Timestamp.encode(key.createdAt),
        index === 0 ? 'signs' : 'published',
      ]),
    ),
  ),

  'use-signing-key': command(
    'Signs answers with this key from now on; the one before stays published.',
    z.object({ key: signingKey }),
    async (admin, { key }) => {
      await useSigningKey(admin, key)
      return [
        `Key ${key} signs answers within five minutes.`,
        'Next: remove-signing-key, when nobody verifies answers of the other one any more.',
      ]
    },
  ),

  'remove-signing-key': command(
    'Forgets a key that does not sign; who looks keys up refuses what it signed.',
    z.object({ key: signingKey }),
    async (admin, { key }) => {
      await removeSigningKey(admin, key)
      return [`Key ${key} is gone, within ten minutes.`]
    },
  ),

  'add-edge-key': command(
    'Makes a key by which functions know what comes through CloudFront, and prints its hash for stages.json.',
    z.object({}),
    async (admin) => {
      const hash = await addEdgeKey(admin)
      return [hash, '', 'Next: put it into edge.keys of the stage, behind one that is there, and deploy.']
    },
  ),

  'remove-edge-key': command(
    'Forgets a key of the edge that stages.json does not name any more.',
    z.object({ key: EdgeKeyHash.register(optionHelp, { value: 'hash', meaning: 'The key, as add-edge-key told it' }) }),
    async (admin, { key }) => {
      await removeEdgeKey(admin, key)
      return [`Key ${key} is gone.`]
    },
  ),
}
