import * as z from 'zod'
import { Timestamp } from '../../lib/core/codecs.ts'
import { EdgeKeyHash } from '../../lib/frame/edge.ts'
import { keyIdOf } from '../../lib/signing/keys.ts'
import { buildCommand, type Commands, formatColumns, optionHelp } from '../command.ts'
import { activateSigningKey, addEdgeKey, addSigningKey, removeEdgeKey, removeSigningKey } from '../operations/keys.ts'

const signingKey = z.string().register(optionHelp, { value: 'id', meaning: 'The key, as in list-signing-keys' })

/** Commands for the keys that sign responses, and for the keys by which functions recognize CloudFront. */
export const KEY_COMMANDS: Commands = {
  'add-signing-key': buildCommand(
    'Adds a key that signs responses. The first key signs immediately, a second after use-signing-key.',
    z.object({}),
    async (admin) => {
      const { keyId, x, signs } = await addSigningKey(admin)
      return [
        JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x, kid: keyId }),
        '',
        signs
          ? `Key ${keyId} signs responses within five minutes.`
          : `Key ${keyId} is published. Next: send it to clients that pin keys, then use-signing-key.`,
      ]
    },
  ),

  'list-signing-keys': buildCommand('Lists the keys that sign responses.', z.object({}), async ({ signingKeys }) =>
    formatColumns(
      ['KEY', 'CREATED', 'STATUS'],
      (await signingKeys.read()).map((key, index) => [
        keyIdOf(key),
        Timestamp.encode(key.createdAt),
        index === 0 ? 'signs' : 'published',
      ]),
    ),
  ),

  'use-signing-key': buildCommand(
    'Signs responses with this key from now on. The previous key stays published.',
    z.object({ key: signingKey }),
    async (admin, { key }) => {
      await activateSigningKey(admin, key)
      return [
        `Key ${key} signs responses within five minutes.`,
        'Next: remove-signing-key, once no client verifies responses of the other key.',
      ]
    },
  ),

  'remove-signing-key': buildCommand(
    'Removes a key that does not sign. Clients that look up keys then refuse its signatures.',
    z.object({ key: signingKey }),
    async (admin, { key }) => {
      await removeSigningKey(admin, key)
      return [`Key ${key} is gone, within ten minutes.`]
    },
  ),

  'add-edge-key': buildCommand(
    'Adds a key by which functions recognize requests through CloudFront. Prints its hash for stages.json.',
    z.object({}),
    async (admin) => {
      const hash = await addEdgeKey(admin)
      return [hash, '', 'Next: add it to edge.keys of the stage, after any existing key, and deploy.']
    },
  ),

  'remove-edge-key': buildCommand(
    'Deletes a key of the edge that stages.json no longer names.',
    z.object({
      key: EdgeKeyHash.register(optionHelp, { value: 'hash', meaning: 'The key, as add-edge-key printed it' }),
    }),
    async (admin, { key }) => {
      await removeEdgeKey(admin, key)
      return [`Key ${key} is gone.`]
    },
  ),
}
