import { createPublicKey, sign, verify } from 'node:crypto'
import * as z from 'zod'
import { evmChain, SOLANA } from '../../lib/chain/registry.ts'
import { Config } from '../../lib/config.ts'
import { KeysByAge } from '../../lib/core/keys-by-age.ts'
import { keyIdOf, publicKeyOf, type SigningKey, SigningKeys, signerOf } from '../../lib/signing/keys.ts'
import { describeReason, type Finding, guideSection, joinFirstNames } from './finding.ts'

type SecretName = 'config' | 'identity' | 'signing' | 'webhook-key'

/** Reads a secret's JSON; returns undefined if it is not JSON. Throws AWS's errors. */
export type ReadSecret = (name: SecretName) => Promise<unknown>

type Command = (text: string) => string

/**
 * Known fields of the configuration secret. The CDK stack adds `unused`, because CloudFormation creates no secret without a generated
 * value.
 */
const OWN_NAMES = [...Object.keys(Config.shape), 'unused']

/** Checks that each secret can be read and has the expected form; reveals no value. Sends four requests. */
export async function checkSecrets(readSecret: ReadSecret, command: Command): Promise<Finding[]> {
  const checkSecret = async (
    name: SecretName,
    judge: (content: unknown) => Omit<Finding, 'name'>,
  ): Promise<Finding> => ({
    name: `secret ${name}`,
    ...(await readSecret(name).then(judge, (error: unknown) => judgeFailure(name, error))),
  })
  return await Promise.all([
    checkSecret('config', judgeConfig),
    checkSecret('identity', (content) => judgeKeys(content, guideSection('secrets', 'The identity key'))),
    checkSecret('signing', (content) => checkSigning(content, command)),
    checkSecret('webhook-key', (content) => judgeKeys(content, guideSection('secrets', 'The webhook key'))),
  ])
}

function judgeFailure(name: SecretName, error: unknown): Omit<Finding, 'name'> {
  const code = error instanceof Error ? error.name : ''
  if (code === 'ResourceNotFoundException') {
    return {
      mark: 'FAIL',
      result: 'there is none',
      remedy: 'Deploy the stage, which makes it: docs/deploy.md',
    }
  }
  if (code === 'AccessDeniedException') {
    return {
      mark: 'FAIL',
      result: 'your AWS credentials may not read it',
      remedy: `Let them secretsmanager:GetSecretValue on vaultline/<stage>/${name}`,
    }
  }
  return { mark: 'FAIL', result: `cannot be read: ${describeReason(error)}` }
}

function judgeConfig(content: unknown): Omit<Finding, 'name'> {
  const { data, error } = Config.safeParse(content)
  if (!data) {
    // Only top-level names are shown: an operator chooses nested names, which may be secret.
    const fields = [...new Set(error.issues.map(({ path: [field] }) => String(field ?? 'the whole, which is no JSON')))]
    return {
      mark: 'FAIL',
      result: `not of the form that is expected: ${fields.join(', ')}`,
      remedy: guideSection('secrets', 'Nodes and data sources'),
    }
  }
  const unread = countUnread(content, data)
  if (unread > 0) {
    return {
      mark: 'WARN',
      result: `of its form, and ${unread} of its names or chain ids are none that the service reads`,
      remedy: guideSection('secrets', 'Nodes and data sources'),
    }
  }
  return { mark: 'ok', result: 'of its form' }
}

/** Counts names in the configuration, and in its list of chains, that the service does not know, such as misspelt ones. */
function countUnread(content: unknown, { rpcUrls }: Config): number {
  const names = Object.keys(z.object({}).catchall(z.unknown()).parse(content))
  const chains = Object.keys(rpcUrls).map(Number)
  return [
    ...names.filter((name) => !OWN_NAMES.includes(name)),
    ...chains.filter((id) => !evmChain(id) && id !== SOLANA.id),
  ].length
}

function judgeKeys(content: unknown, remedy: string): Omit<Finding, 'name'> {
  const keys = KeysByAge.safeParse(content).data
  if (keys) return { mark: 'ok', result: keys.length > 1 ? 'of its form, with the one before' : 'of its form' }
  return { mark: 'FAIL', result: 'has no key of 32 characters or more', remedy }
}

function checkSigning(content: unknown, command: Command): Omit<Finding, 'name'> {
  const remedy = guideSection('secrets', 'Signing keys')
  const keys = SigningKeys.safeParse(content).data?.keys
  if (!keys) return { mark: 'FAIL', result: 'not of the form that is expected', remedy }
  const [first, ...others] = keys
  if (!first) return { mark: 'FAIL', result: 'has no key: answers are not signed', remedy: command('add-signing-key') }
  const broken = keys.filter((key) => !canSign(key))
  if (broken.length > 0) {
    return { mark: 'FAIL', result: `what ${joinFirstNames(broken.map(keyIdOf))} signs does not verify`, remedy }
  }
  const published = others.map((key) => `; ${keyIdOf(key)} is published alone`)
  return { mark: 'ok', result: `${keyIdOf(first)} signs${published.join('')}` }
}

/** Returns whether the public key of the pair verifies a signature by its private key. */
function canSign(key: SigningKey): boolean {
  const text = Buffer.from('doctor')
  try {
    const { kty, crv, x } = publicKeyOf(key)
    const signature = sign(null, text, signerOf(key).key)
    return verify(null, text, createPublicKey({ key: { kty, crv, x }, format: 'jwk' }), signature)
  } catch {
    return false
  }
}
