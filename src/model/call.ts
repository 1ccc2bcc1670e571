import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { AssistantMessage, CallModelAnswer, TokenUsage } from '../contract.ts';
import type { ModelRequest } from '../session/request.ts';
import { ModelError } from './model-error.ts';
import { toPrompt, toTools } from './prompt.ts';
import { MODEL_DEFAULTS, type ModelSettings } from './settings.ts';

/** Tool calls of one message: more is a model that ran away. */
const MAX_CALLS = 128;

export interface ModelAnswer {
  content: AssistantMessage['content'];
  finish: Extract<CallModelAnswer, { finish: string }>['finish'];
  usage?: TokenUsage;
}

/**
 * One model call, streamed, without any retry of its own.
 * @param signal - ends the call; its reason is thrown
 * @throws ModelError for everything that the model or the way to it did wrong
 */
export async function callModel(
  request: ModelRequest,
  settings: ModelSettings,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { config, tools } = request.header;
  const { silenceMs = MODEL_DEFAULTS.silenceMs, callMs = MODEL_DEFAULTS.callMs } = settings;
  const late = new AbortController();
  const silence = setTimeout(
    () =>
      late.abort(
        new ModelError('model-silent', `the model sent no byte for ${silenceMs / 1000} s`, { heals: true }),
      ),
    silenceMs,
  );
  const slow = setTimeout(
    () =>
      late.abort(
        new ModelError('model-slow', `the model was not done after ${callMs / 1000} s`, { heals: true }),
      ),
    callMs,
  );
  try {
    const { stream } = await languageModel(settings, config.model, () => silence.refresh()).doStream({
      prompt: toPrompt(request),
      ...(tools?.length ? { tools: toTools(tools) } : {}),
      ...(config.maxTokens === undefined ? {} : { maxOutputTokens: config.maxTokens }),
      ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
      abortSignal: AbortSignal.any([signal, late.signal]),
    });
    const answer = new AnswerBuilder();
    for await (const part of stream) {
      silence.refresh();
      answer.take(part);
    }
    return answer.finish();
  } catch (error) {
    signal.throwIfAborted();
    late.signal.throwIfAborted();
    throw ModelError.from(error);
  } finally {
    clearTimeout(silence);
    clearTimeout(slow);
  }
}

function languageModel(
  { languageModel: custom, baseURL, apiKey, provider }: ModelSettings,
  modelId: string,
  onByte: () => void,
): LanguageModelV4 {
  if (custom) return custom(modelId);
  return createOpenAICompatible({
    name: provider ?? MODEL_DEFAULTS.provider,
    baseURL,
    includeUsage: true,
    fetch: listening(onByte),
    ...(apiKey === undefined ? {} : { apiKey }),
  }).chatModel(modelId);
}

/** `fetch` that tells of each byte: an endpoint that only sends keep-alives is slow, not silent. */
function listening(onByte: () => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    onByte();
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          onByte();
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(body ?? null, response);
  };
}

/** Puts the stream's parts together to one message. */
class AnswerBuilder {
  readonly #content: AssistantMessage['content'] = [];
  readonly #open = new Map<string, { type: 'text' | 'reasoning'; text: string }>();
  #finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;

  take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block = {
          type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const),
          text: '',
        };
        this.#open.set(part.id, block);
        this.#content.push(block);
        return;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.#open.get(part.id);
        if (block) block.text += part.delta;
        return;
      }
      case 'tool-call':
        this.#content.push({
          type: 'tool-call',
          id: part.toolCallId,
          name: part.toolName,
          arguments: part.input,
        });
        return;
      case 'error':
        throw ModelError.from(part.error);
      case 'finish':
        this.#finish = part;
        return;
      default:
    }
  }

  finish(): ModelAnswer {
    const content = this.#content.filter((block) => block.type === 'tool-call' || block.text !== '');
    const reason = this.#finish?.finishReason;
    if (!this.#finish || reason?.raw === undefined) {
      throw new ModelError('model-cut', 'the model’s answer ended before it was finished', { heals: true });
    }
    if (content.length === 0 && reason.unified === 'content-filter') {
      throw new ModelError('content-filter', 'the provider filtered the answer out', { heals: false });
    }
    if (content.length === 0 && reason.unified !== 'length') {
      throw new ModelError('model-empty', 'the model answered without any content', { heals: true });
    }
    const calls = content.filter((block) => block.type === 'tool-call').length;
    if (calls > MAX_CALLS) {
      const message = `the model asked for ${calls} tool calls at once, allowed: ${MAX_CALLS}`;
      throw new ModelError('too-many-calls', message, { heals: false });
    }
    const { usage } = this.#finish;
    return {
      content,
      finish: reason.unified === 'length' ? 'max-tokens' : calls > 0 ? 'tool-calls' : 'stop',
      ...(usage.inputTokens.total === undefined || usage.outputTokens.total === undefined
        ? {}
        : {
            usage: {
              inputTokens: usage.inputTokens.total,
              outputTokens: usage.outputTokens.total,
              ...(usage.inputTokens.cacheRead ? { cacheReadTokens: usage.inputTokens.cacheRead } : {}),
              ...(usage.outputTokens.reasoning ? { reasoningTokens: usage.outputTokens.reasoning } : {}),
            },
          }),
    };
  }
}
