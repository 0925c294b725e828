//! Transcripts of every format, in words: one small case for each trap that real files set.

mod acp;
mod anthropic;
mod archives;
mod atif;
mod claude_code;
mod codex;
mod copilot;
mod costs;
mod detection;
mod gemini;
mod inspect;
mod langchain;
mod native;
mod notes;
mod openai;
mod openai_responses;
mod opencode;
mod openhands;
mod otlp;
mod otlp_limits;
mod pi;
mod properties;
mod pydantic_ai;
mod reading;
mod real_files;
mod swe_agent;
