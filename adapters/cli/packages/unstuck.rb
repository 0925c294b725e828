class Unstuck < Formula
  desc "Finds loops of agents that call tools, and gets them out"
  homepage "@repository@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@repository@/releases/download/v@version@/unstuck-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "@repository@/releases/download/v@version@/unstuck-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@repository@/releases/download/v@version@/unstuck-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@repository@/releases/download/v@version@/unstuck-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "unstuck"
    generate_completions_from_executable(bin/"unstuck", "completions")
  end

  test do
    (testpath/"run.jsonl").write '{"type":"call","tool":"bash","args":{"command":"make"},"result":"done"}'
    assert_match "1 run", shell_output("#{bin}/unstuck scan run.jsonl")
  end
end
